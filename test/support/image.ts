/**
 * The image without a container engine: its root file system, read-only, in namespaces of its own, as the
 * Dockerfile says. What an engine brings is brought here: /proc, four devices, /tmp and the volume.
 */
import { readFileSync } from 'node:fs'
import type { Program } from './running-service.ts'

type Declared = {
  readonly env: { readonly [name: string]: string }
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly health: readonly string[]
  readonly user: string
}

/** The last stage of the Dockerfile. */
export function declaredImage(): Declared {
  const [stage = ''] = readFileSync('Dockerfile', 'utf8')
    .split(/^FROM scratch$/m)
    .slice(1)
  const list = (form: RegExp): string[] => JSON.parse(form.exec(stage)![1]!)
  const pairs = /^ENV ((?:.+\\\n)*.+)$/m.exec(stage)![1]!.replaceAll('\\\n', ' ').trim().split(/\s+/)
  return {
    env: Object.fromEntries(pairs.map(pair => pair.split('=', 2))),
    entrypoint: list(/^ENTRYPOINT (.+)$/m),
    command: list(/^CMD (.+)$/m),
    health: list(/^HEALTHCHECK .*CMD (.+)$/m),
    user: /^USER (.+)$/m.exec(stage)![1]!,
  }
}

export type Container = {
  readonly root: string
  /** The folder of the volume */
  readonly data: string
  /** user and group, such as "4711:4711" */
  readonly user: string
  readonly env?: { readonly [name: string]: string }
  /** How large the volume is, if it is memory instead of a folder */
  readonly bytes?: number
  readonly isVolumeReadOnly?: true
}

/** The program that runs `command` there as process 1. It takes further arguments at its end. */
export function inContainer(container: Container, command: readonly string[]): Program {
  const { root, data, user, bytes, isVolumeReadOnly } = container
  const volume = bytes
    ? 'mount -t tmpfs -o "size=$BYTES,mode=1777" volume "$ROOT/data"'
    : 'mount --bind "$DATA" "$ROOT/data"'
  const steps = [
    'set -e',
    'mount --bind "$ROOT" "$ROOT"',
    'mount -o remount,bind,ro "$ROOT"',
    'mount -t proc proc "$ROOT/proc"',
    'mount -t tmpfs -o mode=1777 tmp "$ROOT/tmp"',
    'mount -t tmpfs dev "$ROOT/dev"',
    'for one in null zero random urandom; do touch "$ROOT/dev/$one"; mount --bind /dev/$one "$ROOT/dev/$one"; done',
    volume,
    ...(isVolumeReadOnly ? ['mount -o remount,bind,ro "$ROOT/data"'] : []),
    'exec setpriv --no-new-privs env --ignore-environment "$@"',
  ]
  const places = [`ROOT=${root}`, `DATA=${data}`, `BYTES=${bytes}`]
  return {
    file: 'env',
    args: [
      ...places,
      ...[
        'unshare',
        '--mount',
        '--pid',
        '--ipc',
        '--uts',
        '--fork',
        '--kill-child',
        '--propagation',
        'private',
      ],
      ...['sh', '-c', steps.join('\n'), 'sh'],
      ...settingsOf(container),
      ...['/usr/sbin/chroot', `--userspec=${user}`, '--groups=', root],
      ...command,
    ],
  }
}

/** The program that runs `command` beside process 1 of a container, which has this number outside. */
export function besideProcess(number: number, container: Container, command: readonly string[]): Program {
  const [uid, gid] = container.user.split(':')
  const namespaces = ['--mount', '--pid', '--ipc', '--uts', '--root', '--wd']
  const settings = settingsOf(container)
  return {
    file: 'env',
    args: [
      ...['--ignore-environment', ...settings, '/usr/bin/nsenter', `--target=${number}`, ...namespaces],
      ...[`--setuid=${uid}`, `--setgid=${gid}`, ...command],
    ],
  }
}

function settingsOf({ env = {} }: Container): readonly string[] {
  return Object.entries({ ...declaredImage().env, ...env }).map(([name, value]) => `${name}=${value}`)
}
