/** One press logs a call, a meeting or an e-mail about a record. */
import { Mail, Phone, Users } from 'lucide-react'
import { openLog } from '../shell/log-activity.tsx'
import { Button } from '../ui/button.tsx'
import type { About } from './about.ts'
import { type LogKind, logKinds } from './kinds.ts'

const icons: { readonly [kind in LogKind]?: typeof Phone } = { Call: Phone, Meeting: Users, 'E-mail': Mail }

export function LogButtons({ about, reason }: { about: About; reason: string | undefined }) {
  return logKinds.map(({ id, title }) => {
    const Icon = icons[id]
    return Icon ? (
      <Button key={id} isSmall reason={reason} aria-label={title} onPress={() => openLog(id, about)}>
        <Icon size={14} aria-hidden /> {id}
      </Button>
    ) : null
  })
}
