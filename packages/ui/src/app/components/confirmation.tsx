import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { announce } from './announcement.js'
import { Problem } from './parts.js'

interface ConfirmationProps {
  readonly title: string
  readonly children: ComponentChildren
  /** Label of the button that does it. */
  readonly action: string
  /** Does it, and returns what to announce. */
  readonly onConfirm: () => Promise<string>
  readonly onClose: () => void
}

/** A dialog that asks before a change. */
export function Confirmation({ title, children, action, onConfirm, onClose }: ConfirmationProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [isBusy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const confirm = async (): Promise<void> => {
    setBusy(true)
    try {
      announce(await onConfirm())
      dialog.current?.close()
    } catch (error) {
      setProblem((error as Error).message)
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="dialog-title">
      <h2 id="dialog-title">{title}</h2>
      {children}
      <Problem text={problem} />
      <div class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={() => void confirm()}>
          {action}
        </button>
      </div>
    </dialog>
  )
}
