import { type Exchange, PHASE_NAMES } from '@sluice/core'
import { millisText } from './iso-clock.js'

const OPENINGS: readonly string[] = PHASE_NAMES.map((name) => ',"' + name + '":')
/** Durations below it are remembered as text, in microseconds: most phases of most exchanges are that short. */
const REMEMBERED_MICROS = 1000
/** By phase and microsecond, such as `,"up_queue":0.121`; filled as they occur, half a megabyte at the very most. */
const SHORT_PARTS: readonly string[][] = PHASE_NAMES.map(() => new Array<string>(REMEMBERED_MICROS).fill(''))

/** `,"t":{"total":…,…}`: the whole time and every part of it that is not zero, ms. The parts add up to the whole. */
export function timingsPart(x: Exchange, totalMs: number): string {
  let members = ',"t":{"total":' + millisText(totalMs)
  for (let i = 0; i < OPENINGS.length; i++) {
    const ms = x.times.ms[i]!
    if (ms > 0) members += phaseText(i, ms)
  }
  return members + '}'
}

/** Empty for what would be written as zero: a remembered text is looked up in 5 ns, a new one takes 70. */
function phaseText(phase: number, ms: number): string {
  const micros = Math.round(ms * 1000)
  if (micros >= REMEMBERED_MICROS) return OPENINGS[phase]! + millisText(ms)
  if (micros === 0) return ''
  const known = SHORT_PARTS[phase]![micros]!
  return known === '' ? rememberedText(phase, micros) : known
}

function rememberedText(phase: number, micros: number): string {
  const text = OPENINGS[phase]! + millisText(micros / 1000)
  SHORT_PARTS[phase]![micros] = text
  return text
}
