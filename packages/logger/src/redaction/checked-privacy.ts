import type { PrivacyOptions } from './privacy-options.js'
import { compileRules } from './rules.js'

/**
 * The rules for a thread, or null when there are none. They are compiled once here, so that a mistake is reported to the
 * one who opens the log, not found by a thread that ends again and again. @throws Error when they cannot be applied.
 */
export function checkedPrivacy(options: PrivacyOptions | null | undefined): PrivacyOptions | null {
  if (options === null || options === undefined || options.rules.length === 0) return null
  compileRules(options)
  return options
}
