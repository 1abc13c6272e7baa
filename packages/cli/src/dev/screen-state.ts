import type { RequestRow } from './request-row.js'

/** State of the screen of `gw dev`, changed by keys. */
export interface ScreenState {
  /** Number of the selected request, or null to follow the newest. */
  readonly selected: number | null
  /** Digits typed so far. */
  readonly digits: string
  /** Number of the request whose page is shown, or null for the list. */
  readonly opened: number | null
  /** First line of the page. */
  readonly scroll: number
  /** True if the URL of the dashboard is shown. */
  readonly showsDashboard: boolean
  /** Requests up to this number are hidden. */
  readonly clearedTo: number
  readonly isDone: boolean
}

/** State at the start. */
export const START: ScreenState = {
  selected: null,
  digits: '',
  opened: null,
  scroll: 0,
  showsDashboard: false,
  clearedTo: 0,
  isDone: false,
}

/** Lines that Page Up and Page Down move. */
const PAGE = 10
const UP: ReadonlySet<string> = new Set(['\u001b[A', '\u001bOA', 'k'])
const DOWN: ReadonlySet<string> = new Set(['\u001b[B', '\u001bOB', 'j'])
const ENTER: ReadonlySet<string> = new Set(['\r', '\n'])

/** Returns the rows that the list shows, the newest last. */
export function listedRows(rows: readonly RequestRow[], { clearedTo }: ScreenState): readonly RequestRow[] {
  return rows.filter(({ number }) => number > clearedTo)
}

/** Returns the selected row: the newest if none is selected. */
export function selectedRow(rows: readonly RequestRow[], { selected }: ScreenState): RequestRow | null {
  return rows.find(({ number }) => number === selected) ?? rows.at(-1) ?? null
}

/** Returns the state after a key. @param rows all rows in memory, the newest last */
export function afterKey(state: ScreenState, key: string, rows: readonly RequestRow[]): ScreenState {
  if (key === 'q' || key === '\u0003') return { ...state, isDone: true }
  if (key === 'o') return { ...state, showsDashboard: !state.showsDashboard }
  if (state.opened !== null) return afterPageKey(state, key)
  const listed = listedRows(rows, state)
  if (UP.has(key) || DOWN.has(key)) return move(state, UP.has(key) ? -1 : 1, listed)
  if (ENTER.has(key)) return open(state, listed)
  if (/^\d$/.test(key)) return { ...state, digits: (state.digits + key).slice(-9) }
  if (key === '\u007f' || key === '\b') return { ...state, digits: state.digits.slice(0, -1) }
  if (key === '\u001b') return { ...state, digits: '', selected: null }
  if (key === 'c')
    return { ...state, clearedTo: rows.at(-1)?.number ?? state.clearedTo, selected: null, digits: '' }
  return state
}

function afterPageKey(state: ScreenState, key: string): ScreenState {
  const scrolled = (lines: number): ScreenState => ({ ...state, scroll: Math.max(0, state.scroll + lines) })
  if (key === '\u001b' || ENTER.has(key)) return { ...state, opened: null, scroll: 0 }
  if (UP.has(key)) return scrolled(-1)
  if (DOWN.has(key)) return scrolled(1)
  if (key === '\u001b[5~') return scrolled(-PAGE)
  return key === '\u001b[6~' || key === ' ' ? scrolled(PAGE) : state
}

/** Moves the selection. Below the last row, it follows the newest request. */
function move(state: ScreenState, step: number, rows: readonly RequestRow[]): ScreenState {
  const at = rows.findIndex(({ number }) => number === state.selected)
  const from = at === -1 ? rows.length - 1 : at
  const next = rows[Math.max(0, from + step)]
  return { ...state, digits: '', selected: next?.number ?? null }
}

/** Opens the request whose number was typed, or the selected one. */
function open(state: ScreenState, rows: readonly RequestRow[]): ScreenState {
  const wanted = state.digits === '' ? selectedRow(rows, state)?.number : Number(state.digits)
  const row = rows.find(({ number }) => number === wanted)
  if (row === undefined) return { ...state, digits: '' }
  return { ...state, digits: '', opened: row.number, selected: row.number, scroll: 0 }
}
