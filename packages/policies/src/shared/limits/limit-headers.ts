import { appendHeader, type HeaderList, headerValue, type Limit, setHeader } from '@sluice/core'
import type { KeyLeases } from './lease-table.js'
import { leftOf } from './lease-table.js'

/** Style of the headers that inform clients about limits. */
export type HeaderStyle = 'draft' | 'legacy' | 'off'

/** Adds the headers of a policy to a response. */
export type HeaderWriter = (headers: HeaderList, entry: KeyLeases) => void

/** Facts of a policy that `headerWriter` needs. */
interface Facts {
  /** Id of the policy. */
  readonly name: string
  readonly limits: readonly Limit[]
}

/**
 * Creates the writer of a style, or returns null for `off`. `draft`: RateLimit-Policy lists all limits, RateLimit the
 * state of the tightest one (draft-ietf-httpapi-ratelimit-headers-10). Both are lists to which each policy adds its
 * own. `legacy`: X-RateLimit-Limit, -Remaining and -Reset (seconds) of the tightest limit of all policies.
 */
export function headerWriter(style: HeaderStyle, { name, limits }: Facts): HeaderWriter | null {
  if (style === 'off') return null
  if (style === 'legacy') return (headers, entry) => writeLegacy(headers, entry, limits)
  const names = limits.map((_, at) => sfString(limits.length === 1 ? name : `${name}-${at + 1}`))
  let policies = ''
  let changesMono = 0
  return (headers, entry) => {
    const nowMono = performance.now()
    // The text changes only with the length of a month, or of a day on which the clocks change.
    if (nowMono >= changesMono) {
      policies = policiesText(names, limits)
      changesMono = nowMono + 1000
    }
    const { at, left, seconds } = tightestOf(entry, nowMono)
    appendHeader(headers, 'ratelimit-policy', policies)
    appendHeader(headers, 'ratelimit', `${names[at]};r=${left};t=${seconds}`)
  }
}

function policiesText(names: readonly string[], limits: readonly Limit[]): string {
  const windows = limits.map(({ rule }) => Math.max(1, Math.ceil(rule(Date.now()).periodMs / 1000)))
  return limits.map(({ quota }, at) => `${names[at]};q=${quota};w=${windows[at]}`).join(', ')
}

function writeLegacy(headers: HeaderList, entry: KeyLeases, limits: readonly Limit[]): void {
  const { at, left, seconds } = tightestOf(entry, performance.now())
  const known = Number(headerValue(headers, 'x-ratelimit-remaining') ?? Number.NaN)
  if (known <= left) return
  setHeader(headers, 'x-ratelimit-limit', String(limits[at]!.quota))
  setHeader(headers, 'x-ratelimit-remaining', String(left))
  setHeader(headers, 'x-ratelimit-reset', String(seconds))
}

function tightestOf(
  entry: KeyLeases,
  nowMono: number,
): { readonly at: number; readonly left: number; readonly seconds: number } {
  const { tightest } = entry
  const seconds = Math.max(0, Math.ceil((tightest.resetMono - nowMono) / 1000))
  return { at: entry.leases.indexOf(tightest), left: leftOf(tightest), seconds }
}

/** Formats a string of RFC 9651 section 3.3.3. Characters that are not printable ASCII become `_`. */
function sfString(text: string): string {
  return `"${text
    .replace(/[^ -~]/g, '_')
    .replaceAll('\\', '\\\\')
    .replaceAll('"', '\\"')}"`
}
