/** Plans the next step for a record: a day by one press, then its kind, subject and time. */
import { type ReactNode, useState } from 'react'
import { Button, Cancel } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { type About, detailOf, mainOf } from './about.ts'
import { ActivityForm, useSaveOnce } from './activity-form.tsx'
import { type LogBatch, requestOfStep, savePlanned } from './log.ts'
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

export function PlanDialog(props: Props) {
  const { about: given, title = 'Plan the next step', cancel = 'Cancel', children, onClose } = props
  const [about, setAbout] = useState(given)
  const saving = useSaveOnce<LogBatch>()
  const next = useNextStep('Call', saving.isTried)
  const plan = async () => {
    const { step } = next
    await saving.save(!step || mainOf(about) === null, {
      said: { about, step },
      make: () => requestOfStep(step!, about),
      send: async (request, key) => {
        await savePlanned(request, key)
        onClose()
      },
    })
  }
  return (
    <Dialog
      title={title}
      detail={detailOf(given)}
      isOpen
      onClose={onClose}
      isUnsaved={next.step !== null || mainOf(about) !== mainOf(given)}
    >
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
    </Dialog>
  )
}
