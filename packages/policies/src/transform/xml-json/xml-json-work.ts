import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import type { Transformed } from '../../shared/transformation/transformed.js'
import { convert } from './convert.js'
import type { Mapping } from './mapping.js'

/** Converts bodies on a thread. */
export const work: OffloadedWork<Mapping, Uint8Array, Transformed> = async (mapping) => {
  await loadLibxml()
  return (body) => convert(body, mapping)
}
