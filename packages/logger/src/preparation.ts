import { type GeoOptions, Places } from './geo/places.js'
import { BatchPrivacy, type RedactedBatch } from './redaction/batch-privacy.js'
import type { PrivacyOptions } from './redaction/privacy-options.js'
import { compileRules } from './redaction/rules.js'

/** What is done to records on the thread that writes them. */
export interface PreparationOptions {
  /** What is added; null: nothing. */
  readonly geo: GeoOptions | null
  /** What is taken away; null: nothing. */
  readonly privacy: PrivacyOptions | null
}

/** What every record goes through before it is on disk. */
export interface Preparation {
  /** As many lines as there were. Never throws. */
  prepared(lines: Buffer): RedactedBatch
  close(): void
}

/** The options for a thread. @throws Error when privacy rules cannot be applied. */
export function checkedPreparation(options: {
  readonly geo?: GeoOptions | null
  readonly privacy?: PrivacyOptions | null
}): PreparationOptions {
  return { geo: options.geo ?? null, privacy: checkedPrivacy(options.privacy) }
}

/** @param report hears what an operator should know beside the problem of a batch. */
export function openPreparation(
  { geo, privacy }: PreparationOptions,
  report: (problem: string) => void,
): Preparation {
  const places = geo === null ? null : new Places(geo, report)
  const rules = privacy === null ? null : new BatchPrivacy(privacy)
  return {
    prepared(received) {
      const lines = places === null ? received : places.addedTo(received)
      return rules === null ? { lines, problem: '' } : rules.redacted(lines)
    },
    close: () => places?.close(),
  }
}

/**
 * The rules for a thread, or null when there are none. They are compiled once here, so that a mistake is reported to the
 * one who opens the log, not found by a thread that ends again and again. @throws Error when they cannot be applied.
 */
export function checkedPrivacy(options: PrivacyOptions | null | undefined): PrivacyOptions | null {
  if (options === null || options === undefined || options.rules.length === 0) return null
  compileRules(options)
  return options
}
