import type { CaptureRules, RegionRules } from '@sluice/core'

/**
 * Restrictions of one output on captured data. Regions, bodies and fields are recorded only if captured and
 * allowed here.
 */
export interface CaptureNarrowing extends Omit<CaptureRules, 'binary' | 'keepBodyOn'> {
  /** Absent if the capture rule applies. */
  readonly binary?: CaptureRules['binary']
  /**
   * Absent if the capture rule applies. Bodies are captured for all results, so this rule may keep others.
   */
  readonly keepBodyOn?: CaptureRules['keepBodyOn']
}

/** Header fields that are recorded. */
export type FieldLists = Pick<CaptureRules, 'headersAllow' | 'headersDeny'>

/**
 * Returns a function that restricts capture rules to those of an output. Results are cached per rules object.
 */
export function narrowed(by: CaptureNarrowing | null): (rules: CaptureRules) => CaptureRules {
  if (by === null) return (rules) => rules
  const known = new WeakMap<CaptureRules, CaptureRules>()
  return (rules) => {
    let recorded = known.get(rules)
    if (recorded === undefined) {
      recorded = both(rules, by)
      known.set(rules, recorded)
    }
    return recorded
  }
}

function both(rules: CaptureRules, by: CaptureNarrowing): CaptureRules {
  return {
    ...rules,
    ...by,
    requestIn: regionOf(rules.requestIn, by.requestIn),
    requestUp: regionOf(rules.requestUp, by.requestUp),
    responseUp: regionOf(rules.responseUp, by.responseUp),
    responseOut: regionOf(rules.responseOut, by.responseOut),
    maxBodyBytes: Math.min(rules.maxBodyBytes, by.maxBodyBytes),
    sha256: rules.sha256 && by.sha256,
    multipart: rules.multipart === 'values' ? by.multipart : 'names',
    headersAllow: allowedByBoth(rules.headersAllow, by.headersAllow),
    headersDeny: [...rules.headersDeny, ...by.headersDeny],
  }
}

function regionOf(one: RegionRules, other: RegionRules): RegionRules {
  return { headers: one.headers && other.headers, body: one.body && other.body }
}

function allowedByBoth(
  one: readonly string[] | null,
  other: readonly string[] | null,
): readonly string[] | null {
  if (one === null || other === null) return one ?? other
  return one.filter((name) => other.includes(name))
}
