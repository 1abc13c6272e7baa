import { SORT_KEYS, type SortKey, sorted, type TrafficRow } from './traffic.js'

/** State of the screen, changed by keys. */
export interface ViewState {
  readonly sort: SortKey
  /** Text that the id of a route contains. */
  readonly filter: string
  /** True while the filter is entered. */
  readonly isTyping: boolean
  /** Index of the selected row. */
  readonly selected: number
  /** Route that is shown in detail, or null for the list. */
  readonly route: string | null
  readonly isDone: boolean
}

/** State at the start. */
export const START: ViewState = {
  sort: 'rate',
  filter: '',
  isTyping: false,
  selected: 0,
  route: null,
  isDone: false,
}

/** Matches one key: an escape sequence, a lone escape, or a character. */
const KEY = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Za-z])?|[\s\S]/gu

/** Splits terminal input into keys. */
export function keysIn(input: string): readonly string[] {
  return input.match(KEY) ?? []
}

/** Returns the rows that the list shows, in order. */
export function visibleRows(rows: readonly TrafficRow[], { sort, filter }: ViewState): TrafficRow[] {
  const wanted = filter.toLowerCase()
  return sorted(
    rows.filter(({ route }) => route.toLowerCase().includes(wanted)),
    sort,
  )
}

/** Returns the state after a key. @param rows Rows of the list. */
export function afterKey(state: ViewState, key: string, rows: readonly TrafficRow[]): ViewState {
  if (key === '\u0003') return { ...state, isDone: true }
  if (state.isTyping) return afterTyping(state, key)
  const last = Math.max(0, rows.length - 1)
  const select = (index: number): ViewState => ({ ...state, selected: Math.max(0, Math.min(last, index)) })
  switch (key) {
    case 'q':
      return { ...state, isDone: true }
    case '\u001b':
      return state.route === null ? { ...state, filter: '', selected: 0 } : { ...state, route: null }
    case '\u001b[A':
    case '\u001bOA':
    case 'k':
      return select(state.selected - 1)
    case '\u001b[B':
    case '\u001bOB':
    case 'j':
      return select(state.selected + 1)
    case 'g':
      return select(0)
    case 'G':
      return select(last)
    case 's':
      return { ...state, sort: SORT_KEYS[(SORT_KEYS.indexOf(state.sort) + 1) % SORT_KEYS.length]! }
    case '/':
      return { ...state, filter: '', isTyping: true, route: null, selected: 0 }
    case '\r':
    case '\n':
      return { ...state, route: state.route ?? rows[state.selected]?.route ?? null }
    default:
      return state
  }
}

function afterTyping(state: ViewState, key: string): ViewState {
  if (key === '\u001b') return { ...state, filter: '', isTyping: false }
  if (key === '\r' || key === '\n') return { ...state, isTyping: false }
  if (key === '\u007f' || key === '\b') return { ...state, filter: state.filter.slice(0, -1) }
  return key < ' ' || key.startsWith('\u001b') ? state : { ...state, filter: state.filter + key }
}
