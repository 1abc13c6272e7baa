import { useEffect, useState } from 'preact/hooks'
import type { LogRecord, Records, SearchedLog } from './admin-api.js'
import { request } from './request.js'

/** Newest records that match, and what was searched. */
interface LiveRecords {
  /** Records, the newest first. */
  readonly rows: readonly LogRecord[]
  readonly searched: SearchedLog | null
  readonly problem: string | null
}

/** Maximum number of rows. Older ones are dropped. */
export const MAX_ROWS = 200
const EVERY_MS = { file: 2000, elasticsearch: 5000 } as const
const NOTHING: LiveRecords = { rows: [], searched: null, problem: null }

/** Polls the traffic log while the page is visible and not paused. @param query of `/v1/records`. */
export function useLiveRecords(query: string, isPaused: boolean): LiveRecords {
  const [state, setState] = useState({ ...NOTHING, query, at: '' })
  const current = state.query === query ? state : { ...NOTHING, query, at: '' }
  useEffect(() => {
    if (isPaused) return
    let isOver = false
    let timer: ReturnType<typeof setTimeout> | undefined
    let { at, rows, searched } = current
    const poll = async (): Promise<void> => {
      if (!document.hidden) {
        const since = at === '' ? '' : `&since=${encodeURIComponent(at)}`
        try {
          const answer = await request<Records>('GET', `/v1/records?limit=${MAX_ROWS}&${query}${since}`)
          rows = merged(answer.records, rows)
          searched = {
            ...answer.searched,
            isComplete: answer.searched.isComplete && searched?.isComplete !== false,
          }
          at = answer.at
          if (!isOver) setState({ rows, searched, problem: null, query, at })
        } catch (error) {
          if (!isOver) setState({ rows, searched, problem: (error as Error).message, query, at })
        }
      }
      if (!isOver) timer = setTimeout(() => void poll(), EVERY_MS[searched?.kind ?? 'file'])
    }
    void poll()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [query, isPaused])
  return current
}

/** Identifies a record. Clients may send the same request id several times. */
export function keyOf(record: LogRecord): string {
  return `${record.id} ${record['@timestamp']}`
}

function merged(newer: readonly LogRecord[], older: readonly LogRecord[]): LogRecord[] {
  const known = new Map([...newer, ...older].map((record) => [keyOf(record), record]))
  const instant = (record: LogRecord): number => Date.parse(record['@timestamp'])
  return [...known.values()].sort((a, b) => instant(b) - instant(a)).slice(0, MAX_ROWS)
}
