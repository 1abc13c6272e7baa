import type { OffloadedWork } from '@sluice/core'
import type { Side } from '../../shared/message/side.js'
import { type BodyInput, type Reading, readingWork } from '../../shared/text/body-reading.js'
import { type BodyFindings, BodyScan } from './body.js'
import { Finders } from './finder.js'
import { compileRules } from './rules.js'
import type { ContentFilterConfig } from './schema.js'

/** Input of a worker thread. */
export interface BodyWorkConfig {
  readonly config: ContentFilterConfig
  readonly side: Side
}

/** Scans large bodies on a thread. */
export const work: OffloadedWork<BodyWorkConfig, BodyInput, Reading<BodyFindings>> = ({ config, side }) => {
  const rules = compileRules(config, side)
  const filter = new BodyScan(rules, new Finders(rules, config.decodePasses))
  return readingWork((input, json) => filter.scan(input, json))
}
