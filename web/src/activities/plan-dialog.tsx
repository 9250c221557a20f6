/** Plans the next step for a record: a day by one press, then its kind, subject and time. */
import { type ReactNode, useState } from 'react'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { type About, detailOf, mainOf } from './about.ts'
import { ActivityForm, useSaveOnce } from './activity-form.tsx'
import { savePlanned } from './log.ts'
import { NextStep, useNextStep } from './next-step.tsx'

type Props = {
  /** empty: the form asks for it */
  about: About
  title?: string
  /** text of the button that plans nothing */
  cancel?: string
  children?: ReactNode
  onClose: () => void
}

export function PlanDialog({ title = 'Plan the next step', ...props }: Props) {
  return (
    <Dialog title={title} detail={detailOf(props.about)} isOpen onClose={props.onClose}>
      <PlanForm {...props} />
    </Dialog>
  )
}

function PlanForm({ about: given, cancel = 'Cancel', children, onClose }: Omit<Props, 'title'>) {
  const [about, setAbout] = useState(given)
  const saving = useSaveOnce()
  const next = useNextStep('Call', saving.isTried)
  const plan = async () => {
    const { step } = next
    await saving.save(!step || mainOf(about) === null, async key => {
      await savePlanned(step!, about, key)
      onClose()
    })
  }
  return (
    <ActivityForm
      {...{ given, about, saving }}
      onAbout={setAbout}
      onSave={plan}
      head={children}
      actions={
        <>
          <Cancel onPress={onClose}>{cancel}</Cancel>
          <Button
            type="submit"
            variant="primary"
            reason={saving.reason}
            isDisabled={next.step === null}
            isPending={saving.isSaving}
          >
            Plan it
          </Button>
        </>
      }
    >
      <NextStep state={next} isRequired autoFocus={mainOf(given) !== null} />
    </ActivityForm>
  )
}
