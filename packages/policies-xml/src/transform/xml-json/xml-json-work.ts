import type { OffloadedWork } from '@sluice/core'
import type { Transformed } from '@sluice/policies/shared/transformation/transformed'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { convert } from './convert.js'
import type { Mapping } from './mapping.js'

/** Converts bodies on a thread. */
export const work: OffloadedWork<Mapping, Uint8Array, Transformed> = async (mapping) => {
  await loadLibxml()
  return (body) => convert(body, mapping)
}
