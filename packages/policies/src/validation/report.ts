import { type Exchange, removeHeader, setHeader } from '@sluice/core'
import { headersOf, type Side } from '../message/side.js'

/** Marks what the mode `report` has let pass. */
const HEADER = 'x-gw-validation'
/** Holds what was wrong, for the traffic log and for conditions. */
const VARIABLE = 'validation'

/** Takes the mark off a message, which only the gateway may set. */
export function unmark(x: Exchange, side: Side): void {
  removeHeader(headersOf(x, side), HEADER)
}

/** Marks a message as not valid, or as not checked. */
export function mark(x: Exchange, side: Side, word: 'failed' | 'skipped'): void {
  setHeader(headersOf(x, side), HEADER, word)
}

/** Notes what is wrong where operators find it. */
export function note(x: Exchange, wrong: string): void {
  x.setVar(VARIABLE, wrong)
}

/** Whether a response has a body that a schema could describe: not an error, not a part, not nothing. */
export function isCheckedResponse({ method, status }: Exchange): boolean {
  return (
    method !== 'HEAD' && status >= 200 && status < 300 && status !== 204 && status !== 205 && status !== 206
  )
}
