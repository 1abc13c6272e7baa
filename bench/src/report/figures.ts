import { formatSize } from '@sluice/core'
import type { ErrorClass, Spectrum } from '../model/engine.js'
import type { Point } from '../model/summary.js'

/** `15,692`. */
export function countText(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Math.round(value)
    .toString()
    .replace(/\B(?=(\d{3})+(?!\d))/g, ',')
}

/** `812 µs`, `12.4 ms`, `1.21 s`: three digits, the unit that fits. */
export function microsText(micros: number | null): string {
  if (micros === null || !Number.isFinite(micros)) return '–'
  if (micros < 1000) return `${significant(micros)} µs`
  return micros < 1_000_000 ? `${significant(micros / 1000)} ms` : `${significant(micros / 1_000_000)} s`
}

/** `93 %` of a share from 0 to 1. */
export function shareText(share: number): string {
  return Number.isFinite(share) ? `${Math.round(share * 100)} %` : '–'
}

/** `+4.2 %` of a share that may be negative. */
export function changeText(share: number): string {
  if (!Number.isFinite(share)) return '–'
  return `${share < 0 ? '−' : '+'}${Math.abs(share * 100).toFixed(1)} %`
}

/** `1.15`. */
export function ratioText(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '–'
}

/** `44.0`: three digits, also when they are zeros, for columns of figures. */
export function threeDigits(value: number): string {
  if (!Number.isFinite(value)) return '–'
  return Math.abs(value) >= 100 ? countText(value) : value.toPrecision(3)
}

/** At most three digits that say something, and no empty decimals; whole numbers stay whole. */
export function significant(value: number): string {
  if (!Number.isFinite(value)) return '–'
  if (Math.abs(value) >= 100) return countText(value)
  return String(Number(value.toPrecision(3)))
}

/** The latency at a percentile, in microseconds; null when the spectrum does not hold it. */
export function percentileOf(latency: Spectrum | null, percentile: number): number | null {
  return latency?.percentiles.find((step) => step.percentile === percentile)?.micros ?? null
}

const ERROR_CLASSES: readonly ErrorClass[] = ['connect', 'timeout', 'reset', 'status', 'other']

/** All errors of a point. */
export function errorCount(point: Point): number {
  return ERROR_CLASSES.reduce((sum, name) => sum + point.errors[name], 0)
}

/** `2 timeout, 1 status`; `none` without errors. */
export function errorText(point: Point): string {
  const found = ERROR_CLASSES.filter((name) => point.errors[name] > 0)
  return found.length === 0
    ? 'none'
    : found.map((name) => `${countText(point.errors[name])} ${name}`).join(', ')
}

/** Whether a point is a result. */
export function isValid(point: Point): boolean {
  return point.invalid.length === 0
}

/** `saturation`, `fixed rate 1,200/s`, or `highest rate with P99 < 50 ms`. */
export function kindText(point: Point): string {
  if (point.sloMicros !== undefined) return `highest rate with ${sloText(point.sloMicros)}`
  return point.kind === 'saturation' ? 'saturation' : `fixed rate ${countText(point.targetPerSecond ?? 0)}/s`
}

/** `P99 < 50 ms`. */
export function sloText(sloMicros: number): string {
  return `P99 < ${microsText(sloMicros)}`
}

/** `3.4 ×`: how much load there could have been, over what went through; `–` where that was not measured. */
export function ceilingText({ ceilingPerSecond, perSecond }: Point): string {
  const times = (ceilingPerSecond ?? Number.NaN) / perSecond.mean
  return Number.isFinite(times) ? `${times.toFixed(1)} ×` : '–'
}

/** `31 %` of its time that the load generator was busy; `–` where that is not known. */
export function generatorText({ generatorBusyShare }: Point): string {
  return shareText(generatorBusyShare ?? Number.NaN)
}

/** `GET`, or `POST 5 KB`. */
export function requestText(point: Point): string {
  return point.bodyBytes === 0 ? point.method : `${point.method} ${formatSize(point.bodyBytes)}`
}
