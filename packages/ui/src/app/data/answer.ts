import { useCallback, useEffect, useState } from 'preact/hooks'
import { request } from './request.js'

/** An answer of the admin API, or the reason why there is none. */
interface Loaded<T> {
  readonly value: T | null
  readonly problem: string | null
  reload(): void
}

/** Gets a resource once, and again every `everyMs` milliseconds if given. */
export function useAnswer<T>(path: string, everyMs = 0): Loaded<T> {
  const [state, setState] = useState<{ readonly value: T | null; readonly problem: string | null }>({
    value: null,
    problem: null,
  })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      const next = document.hidden
        ? null
        : await request<T>('GET', path).then(
            (value) => ({ value, problem: null }),
            (error: Error) => ({ value: null, problem: error.message }),
          )
      if (isOver) return
      if (next !== null) setState((last) => ({ ...next, value: next.value ?? last.value }))
      if (everyMs > 0) timer = setTimeout(() => void load(), everyMs)
    }
    void load()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [path, everyMs, turn])
  const reload = useCallback(() => setTurn((last) => last + 1), [])
  return { ...state, reload }
}
