import { formatSize } from '@sluice/core'
import type { Point } from '../model/summary.js'

const UNKNOWN = '–'

/** Formats a count, such as `15,692`. */
export function countText(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return UNKNOWN
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** Formats a number with at most three significant digits. Integers stay integers. */
export function significant(value: number | null): string {
  if (value === null || !Number.isFinite(value)) return UNKNOWN
  return Math.abs(value) >= 100 ? countText(value) : String(Number(value.toPrecision(3)))
}

/** Formats microseconds with a suitable unit: `812 µs`, `12.4 ms`, `1.21 s`. */
export function microsText(micros: number | null): string {
  if (micros === null || !Number.isFinite(micros)) return UNKNOWN
  if (micros < 1000) return `${significant(micros)} µs`
  return micros < 1_000_000 ? `${significant(micros / 1000)} ms` : `${significant(micros / 1_000_000)} s`
}

/** Formats a share from 0 to 1, such as `93 %`. */
export function shareText(share: number | null): string {
  return share === null || !Number.isFinite(share) ? UNKNOWN : `${Math.round(share * 100)} %`
}

/** Formats a change, such as `+4.2 %`. */
export function changeText(share: number): string {
  if (!Number.isFinite(share)) return UNKNOWN
  return `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`
}

/** Formats a ratio, such as `1.15`. */
export function ratioText(ratio: number | null): string {
  return ratio === null || !Number.isFinite(ratio) ? UNKNOWN : ratio.toFixed(2)
}

/** Formats a size, such as `5 KB`. */
export function sizeText(bytes: number | null): string {
  return bytes === null ? UNKNOWN : formatSize(Math.round(bytes))
}

/** Returns the number of errors of a point. */
export function errorCount({ errors }: Point): number {
  return Object.values(errors).reduce((sum, count) => sum + count, 0)
}

/** Formats errors, such as `2 timeout, 1 status` or `none`. */
export function errorText({ errors }: Point): string {
  const found = Object.entries(errors).filter(([, count]) => count > 0)
  return found.length === 0 ? 'none' : found.map(([name, count]) => `${countText(count)} ${name}`).join(', ')
}

/** True if a point has figures, possibly with warnings. */
export function hasFigures(point: Point): boolean {
  return point.invalid.length === 0
}

/** True if a point has figures without warnings, so that a limit can be checked with them. */
export function isValid(point: Point): boolean {
  return hasFigures(point) && (point.warnings ?? []).length === 0
}

/** Marks a figure that has a warning. */
export const MARK = '~'
/** Explains the mark. */
export const MARK_REMARK = `${MARK} marks a figure that something other than the system may have influenced. The column "result" says what, and how much was measured. Ratios of the same run are affected least. Repeat the run on a quiet machine for exact figures.`

/** Returns the mark of a point with warnings, else an empty string. */
export function markOf(point: Point): string {
  return isValid(point) ? '' : MARK
}

/** Formats the kind of a point: `saturation`, or `fixed rate 1,200/s`. */
export function kindText({ kind, targetPerSecond }: Point): string {
  return kind === 'saturation' ? 'saturation' : `fixed rate ${countText(targetPerSecond)}/s`
}

/** Formats a request: `GET`, or `POST 5 KB`. */
export function requestText({ bodyBytes, method }: Point): string {
  return bodyBytes === 0 ? method : `${method} ${formatSize(bodyBytes)}`
}
