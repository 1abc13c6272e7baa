import { BatchPrivacy, type RedactedBatch } from '../redaction/batch-privacy.js'
import type { PrivacyOptions } from '../redaction/privacy-options.js'
import { compileRules } from '../redaction/rules.js'
import { type GeoOptions, Places } from './places.js'

/** Processing of records on the thread that writes them. */
export interface PreparationOptions {
  /** Options for adding client locations, or null. */
  readonly geo: GeoOptions | null
  /** Rules for redacting records, or null. */
  readonly privacy: PrivacyOptions | null
}

/** Processing that every record passes before it is written to disk. */
export interface Preparation {
  /** Processes whole lines and returns the same number of lines. Never throws. */
  prepared(lines: Buffer): RedactedBatch
  close(): void
}

/** Returns the options for a thread. @throws Error if the privacy rules are invalid. */
export function checkedPreparation(options: {
  readonly geo?: GeoOptions | null
  readonly privacy?: PrivacyOptions | null
}): PreparationOptions {
  return { geo: options.geo ?? null, privacy: checkedPrivacy(options.privacy) }
}

/**
 * Opens the processing steps.
 * @param report Receives problems other than those of a batch.
 */
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
 * Returns the privacy rules for a thread, or null without rules. Compiles them once, so that a mistake is
 * reported to the caller and does not make the thread fail repeatedly. @throws Error if they are invalid.
 */
export function checkedPrivacy(options: PrivacyOptions | null | undefined): PrivacyOptions | null {
  if (options === null || options === undefined || options.rules.length === 0) return null
  compileRules(options)
  return options
}
