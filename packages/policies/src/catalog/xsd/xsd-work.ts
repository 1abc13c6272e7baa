import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { Validator, type ValidatorConfig, type Verdict } from './validator.js'

/** Validates large bodies on a thread, with a schema of its own: that of the worker is in another memory. */
export const work: OffloadedWork<ValidatorConfig, Uint8Array, Verdict> = async (config) => {
  await loadLibxml()
  const validator = new Validator(config)
  return (body) => validator.validateBytes(body)
}
