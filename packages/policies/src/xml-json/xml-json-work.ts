import type { OffloadedWork } from '@sluice/core'
import type { Transformed } from '../transformed.js'
import { loadLibxml } from '../xml/libxml.js'
import { convert } from './convert.js'
import type { Mapping } from './mapping.js'

/** Converts on a thread. */
export const work: OffloadedWork<Mapping, Uint8Array, Transformed> = async (mapping) => {
  await loadLibxml()
  return (body) => convert(body, mapping)
}
