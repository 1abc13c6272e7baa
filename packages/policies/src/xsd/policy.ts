import { definePolicy, parseSize, type Step } from '@sluice/core'
import { loadLibxml } from '../xml/libxml.js'
import { DEFAULT_DEPTH, XML_LIMITS } from '../xml/limits.js'
import { mediaTypeCheck } from '../xml/media-type.js'
import { Gate } from './gate.js'
import { DEFAULT_CONTENT_TYPES, type XsdConfig, xsdSchema } from './schema.js'
import { readSchemas } from './schema-documents.js'
import { Validator, type ValidatorConfig } from './validator.js'

/** Validates XML bodies against XML Schema 1.0. */
export const xsd = definePolicy({
  name: 'xsd',
  summary: 'Validates XML bodies of requests and responses against XML Schema 1.0.',
  schema: xsdSchema,
  cost: 'cpu',
  async compile(config, env): Promise<Step> {
    const maxBodyBytes = parseSize(config.maxBodyBytes ?? '1mb')
    if (maxBodyBytes > XML_LIMITS.maxBytes) {
      throw new Error(`'maxBodyBytes' ${config.maxBodyBytes} is above 10mb, the most that is read as XML`)
    }
    await loadLibxml()
    const settings = settingsOf(config)
    const validator = new Validator(settings)
    env.onClose(() => validator.close())
    const gate = new Gate({
      validator,
      maxDepth: settings.maxDepth,
      offload: env.offload(new URL('./xsd-work.js', import.meta.url), settings),
      mediaType: mediaTypeCheck(config.contentTypes ?? DEFAULT_CONTENT_TYPES),
      maxBodyBytes,
      isReport: config.mode === 'report',
    })
    return stepOf(gate, config.phase ?? 'request')
  },
})

function stepOf(gate: Gate, phase: 'request' | 'response' | 'both'): Step {
  return {
    name: 'xsd',
    ...(phase !== 'response' && {
      onRequest: (x) => gate.beginRequest(x),
      onRequestBody: (x, body) => gate.request(x, body),
    }),
    ...(phase !== 'request' && {
      onResponse: (x) => gate.beginResponse(x),
      onResponseBody: (x, body) => gate.response(x, body),
    }),
  }
}

function settingsOf(config: XsdConfig): ValidatorConfig {
  return {
    schemas: readSchemas(config),
    select: config.select,
    names: config.namespaces ?? {},
    maxErrors: config.maxErrors ?? 10,
    maxDepth: config.maxDepth ?? DEFAULT_DEPTH,
  }
}
