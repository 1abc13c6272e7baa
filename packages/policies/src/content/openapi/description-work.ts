import type { OffloadedWork } from '@sluice/core'
import { parseValue, type ReadSource } from '../../shared/options/text-source.js'
import { checkedDescription } from './description.js'

/**
 * Parses descriptions and checks them against the standard, which takes seconds for large ones. Returns them
 * as JSON.
 */
export const work: OffloadedWork<unknown, ReadSource, string> =
  () =>
  async ({ text, name }) =>
    JSON.stringify(await checkedDescription(parseValue(text, name)))
