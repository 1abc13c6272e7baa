import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { type CheckedSchemas, checkSchemas } from './checked-schemas.js'
import type { SchemaDocuments } from './schema-documents.js'

/** Checks large schema sets on a thread, so that a worker keeps serving. */
export const work: OffloadedWork<unknown, SchemaDocuments, CheckedSchemas> = async () => {
  await loadLibxml()
  return checkSchemas
}
