/**
 * `npm run image [-- --release FILE --to FOLDER]`: makes the root file system of the image in dist/image
 * (D168): the release, the Node.js that runs this script, and the libraries that it has loaded. The
 * Dockerfile runs it, too; nothing else comes into the image, so there is no shell.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const { values } = parseArgs({
  options: { release: { type: 'string' }, to: { type: 'string', default: 'dist/image' } },
})
// Any user has to read it.
process.umask(0o022)
const root = resolve(values.to)
if (process.platform !== 'linux') throw new Error('The image is for Linux: run this on Linux.')
rmSync(root, { recursive: true, force: true })

const app = folder('app')
execFileSync('tar', ['-xzf', release(), '-C', app, '--strip-components=1', '--no-same-owner'])
cpSync(realpathSync(process.execPath), join(folder('usr/local/bin'), 'node'))
const libraries = loadedLibraries()
for (const library of libraries)
  cpSync(realpathSync(library), join(folder(dirname(library)), basename(library)))
for (const name of packagesOf(libraries)) describePackage(name)
systemFiles()
console.log(`${root}: ${execFileSync('du', ['-sh', root], { encoding: 'utf8' }).split('\t')[0]}`)

/** The packed service: the file that was named, or one that is made now. */
function release(): string {
  if (values.release !== undefined) return resolve(values.release)
  const target = 'dist/release'
  const said = execFileSync(process.execPath, ['scripts/release/package.ts', '--to', target], {
    encoding: 'utf8',
  })
  const [file] = /\S+\/dealwright-(?!client-)\S+\.tgz/.exec(said) ?? []
  return resolve(file!)
}

function folder(path: string): string {
  const place = join(root, path)
  mkdirSync(place, { recursive: true })
  return place
}

/** The dynamic loader and the libraries of this process, as the system calls them. */
function loadedLibraries(): readonly string[] {
  const { sharedObjects } = process.report.getReport() as { sharedObjects: readonly string[] }
  return sharedObjects.filter(path => path.startsWith('/'))
}

/** The Debian packages that the libraries come from; none on another system. */
function packagesOf(files: readonly string[]): readonly string[] {
  if (!existsSync('/var/lib/dpkg/status')) return []
  const owners = files.map(file => {
    // dpkg knows a file of /usr/lib by its older place in /lib.
    const said = execFileSync('dpkg', ['--search', `*/${basename(file)}`], { encoding: 'utf8' })
    return /^([^\s:,]+)/m.exec(said)![1]!
  })
  return [...new Set(owners)]
}

/** The licence of a package, and the entry by which scanners for vulnerabilities know it. */
function describePackage(name: string): void {
  const status = execFileSync('dpkg', ['--status', name], { encoding: 'utf8' })
  writeFileSync(join(folder('var/lib/dpkg/status.d'), name), status)
  const licence = `usr/share/doc/${name}/copyright`
  if (existsSync(`/${licence}`)) cpSync(`/${licence}`, join(folder(dirname(licence)), 'copyright'))
}

/** A system with one user of its own, to whom no file belongs, and places for the volumes. */
function systemFiles(): void {
  const etc = folder('etc')
  writeFileSync(join(etc, 'passwd'), 'root:x:0:0::/:/none\ndealwright:x:65532:65532::/data:/none\n')
  writeFileSync(join(etc, 'group'), 'root:x:0:\ndealwright:x:65532:\n')
  writeFileSync(join(etc, 'nsswitch.conf'), 'hosts: files dns\n')
  if (existsSync('/etc/os-release')) cpSync(realpathSync('/etc/os-release'), join(etc, 'os-release'))
  for (const place of ['dev', 'proc', 'sys']) folder(place)
  // A new volume takes the mode of its place in the image: any user may begin there, and owns what they made.
  for (const place of ['data', 'tmp']) chmodSync(folder(place), 0o1777)
}
