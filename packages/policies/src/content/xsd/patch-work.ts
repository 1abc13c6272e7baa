import type { OffloadedWork } from '@sluice/core'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { type PatchedSchemas, patchSchemas } from './patched-schemas.js'
import type { SchemaDocuments } from './schema-documents.js'

/** Patches large schema sets on a thread, so that a worker keeps serving. */
export const work: OffloadedWork<unknown, SchemaDocuments, PatchedSchemas> = async () => {
  await loadLibxml()
  return patchSchemas
}
