import { definePolicy, isJsonType, OFFLOAD_BYTES, parseSize } from '@sluice/core'
import { codingIssue } from '@sluice/policies/shared/json/coding'
import { isXmlType } from '@sluice/policies/shared/text/body-text'
import { transformationStep } from '@sluice/policies/shared/transformation/body-transformation'
import type { Transformed } from '@sluice/policies/shared/transformation/transformed'
import { loadLibxml } from '../../engines/xml/libxml.js'
import { xmlCodingIssue } from '../../engines/xml/media-type.js'
import { convert } from './convert.js'
import { mappingOf } from './mapping.js'
import { DEFAULTS, xmlJsonSchema } from './schema.js'

const MAX_BODY_BYTES = 10 * 1024 * 1024

/** The `xml-json` policy. Converts XML bodies to JSON, or JSON bodies to XML. */
export const xmlJson = definePolicy({
  name: 'xml-json',
  summary: 'Converts XML bodies to JSON or JSON bodies to XML, in requests or responses.',
  schema: xmlJsonSchema,
  cost: 'cpu',
  async compile(config, env) {
    const maxBodyBytes = parseSize(config.maxBodyBytes ?? DEFAULTS.maxBodyBytes)
    if (maxBodyBytes > MAX_BODY_BYTES) throw new Error("'maxBodyBytes' can be at most 10mb")
    const mapping = mappingOf(config)
    await loadLibxml()
    const offload = env.offload<Uint8Array, Transformed>(
      new URL('./xml-json-work.js', import.meta.url),
      mapping,
    )
    const type = config.direction === 'to-json' ? 'application/json' : 'application/xml; charset=utf-8'
    return transformationStep({
      name: 'xml-json',
      phase: config.phase ?? 'request',
      maxBodyBytes,
      isInput: config.direction === 'to-json' ? isXmlType : ({ type }) => isJsonType(type),
      issue: config.direction === 'to-json' ? xmlCodingIssue : codingIssue,
      contentType: () => type,
      transform: (x, body) => (body.length < OFFLOAD_BYTES ? convert(body, mapping) : offload.run(body, x)),
    })
  },
})
