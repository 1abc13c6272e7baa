import { useEffect, useState } from 'preact/hooks'

let show: (text: string) => void = () => {}

/** Shows a message and reads it to users of screen readers. */
export function announce(text: string): void {
  show(text)
}

const SHOWN_MS = 8000

/** Place of the messages. There is one per page. */
export function Announcement() {
  const [text, setText] = useState('')
  useEffect(() => {
    show = setText
  }, [])
  useEffect(() => {
    const timer = setTimeout(() => setText(''), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <p class={text === '' ? 'hidden' : 'toast'} role="status" aria-live="polite">
      {text}
    </p>
  )
}
