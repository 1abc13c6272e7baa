import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { Validator, type ValidatorConfig, type Verdict } from './validator.js'

/** Validates large bodies on a thread, which needs its own compiled schema. */
export const work: OffloadedWork<ValidatorConfig, Uint8Array, Verdict> = async (config) => {
  await loadLibxml()
  const validator = new Validator(config)
  return (body) => validator.validateBytes(body)
}
