import {
  type CompileEnv,
  definePolicy,
  type Exchange,
  type HeaderList,
  OFFLOAD_BYTES,
  type Outcome,
  Overload,
  parseSize,
  refusal,
  removeHeader,
  type Step,
  setHeader,
} from '@sluice/core'
import { loadLibxml } from '../xml/libxml.js'
import { XML_LIMITS } from '../xml/limits.js'
import { type MediaTypeCheck, mediaTypeCheck } from '../xml/media-type.js'
import { xmlOf } from '../xml/xml-of.js'
import { DEFAULT_CONTENT_TYPES, type XsdConfig, xsdSchema } from './schema.js'
import { readSchemas } from './schema-documents.js'
import { Validator, type ValidatorConfig, type Verdict } from './validator.js'

/** Validates XML bodies against XML Schema 1.0. */
export const xsd = definePolicy({
  name: 'xsd',
  summary: 'Validates XML bodies of requests and responses against XML Schema 1.0.',
  schema: xsdSchema,
  cost: 'cpu',
  async compile(config, env) {
    await loadLibxml()
    const inspection = compileInspection(config, env)
    const phase = config.phase ?? 'request'
    const isReport = config.mode === 'report'
    return {
      name: 'xsd',
      ...(phase === 'response' ? {} : requestHooks(inspection, isReport)),
      ...(phase === 'request' ? {} : responseHooks(inspection, isReport)),
    }
  },
})

type Hooks = Omit<Step, 'name'>

/** What bodies of both directions have done to them. */
interface Inspection {
  readonly maxBytes: number
  readonly mediaType: MediaTypeCheck
  /** The verdict on a body, at once or from a thread. @throws Overload */
  inspect(x: Exchange, body: Uint8Array): Verdict | Promise<Verdict>
}

/** Tells the other side of what was found in report mode. */
const REPORT_FIELD = 'x-gw-validation'
/** Tells later policies and the log what was found. */
const REPORT_VARIABLE = 'xsdViolations'

function compileInspection(config: XsdConfig, env: CompileEnv): Inspection {
  const maxBytes = parseSize(config.maxBodyBytes ?? '1mb')
  if (maxBytes > XML_LIMITS.maxBytes)
    throw new Error("'maxBodyBytes' is above 10mb, the most that is read as XML")
  const settings: ValidatorConfig = {
    schemas: readSchemas(config),
    select: config.select,
    names: config.namespaces ?? {},
    maxErrors: config.maxErrors ?? 10,
    maxDepth: config.maxDepth ?? 100,
  }
  const validator = new Validator(settings)
  env.onClose(() => validator.close())
  const threads = env.offload<Uint8Array, Verdict>(new URL('./xsd-work.js', import.meta.url), settings)
  return {
    maxBytes,
    mediaType: mediaTypeCheck(config.contentTypes ?? DEFAULT_CONTENT_TYPES),
    inspect(x, body) {
      if (body.length >= OFFLOAD_BYTES) return threads.run(body)
      return validator.validate(() => xmlOf(x, body, settings.maxDepth))
    },
  }
}

/** A body that is refused, or in report mode let through: what to answer, and what to note. */
interface Finding {
  readonly reply: Outcome
  readonly mistakes: string
}

function requestHooks(inspection: Inspection, isReport: boolean): Hooks {
  const conclude = isReport ? noteFor((x) => x.headers) : refuse
  return {
    onRequest(x) {
      if (isReport) removeHeader(x.headers, REPORT_FIELD)
      if (inspection.maxBytes < x.bodyLimit) x.bodyLimit = inspection.maxBytes
      return null
    },
    onRequestBody(x, body) {
      if (body.length > inspection.maxBytes)
        return refusal('GW_BODY_TOO_LARGE', 'the request body is too large')
      const problem = inspection.mediaType(x.headers)
      if (problem !== null) {
        return conclude(x, { reply: refusal('GW_MEDIA_TYPE', problem), mistakes: problem })
      }
      return settle(inspection.inspect(x, body), (verdict) => {
        const finding = requestFinding(verdict)
        return finding === null ? null : conclude(x, finding)
      })
    },
  }
}

function requestFinding(verdict: Verdict): Finding | null {
  if (verdict.kind === 'valid') return null
  const { mistakes } = verdict
  if (verdict.kind === 'unreadable') {
    const retry = verdict.code === 'GW_OVERLOADED' ? RETRY : []
    return { reply: refusal(verdict.code, mistakes, retry), mistakes }
  }
  return { reply: refusal('GW_SCHEMA_INVALID', `the body is not valid: ${mistakes}`), mistakes }
}

function responseHooks(inspection: Inspection, isReport: boolean): Hooks {
  const conclude = isReport ? noteFor((x) => x.responseHeaders) : refuse
  return {
    onResponse(x) {
      if (isReport) removeHeader(x.responseHeaders, REPORT_FIELD)
      if (inspection.maxBytes < x.responseBodyLimit) x.responseBodyLimit = inspection.maxBytes
      return null
    },
    onResponseBody(x, body) {
      if (x.status < 200 || x.status > 299 || body.length === 0) return null
      if (body.length > inspection.maxBytes) return UNREADABLE_RESPONSE
      const problem = inspection.mediaType(x.responseHeaders)
      if (problem !== null) return conclude(x, { reply: UNREADABLE_RESPONSE, mistakes: problem })
      return settle(inspection.inspect(x, body), (verdict) => {
        const finding = responseFinding(verdict)
        return finding === null ? null : conclude(x, finding)
      })
    },
  }
}

/** The client cannot mend what the upstream says, nor has it to know. */
const INVALID_RESPONSE = refusal(
  'GW_RESPONSE_INVALID',
  'the response of the upstream is not valid against the schema of this API',
)
const UNREADABLE_RESPONSE = refusal(
  'GW_RESPONSE_INVALID',
  'the response of the upstream cannot be read as the XML that this API promises',
)
const RETRY = ['retry-after', '1']
const OVERLOADED: Verdict = {
  kind: 'unreadable',
  code: 'GW_OVERLOADED',
  mistakes: 'too many large bodies are being validated at once; try again',
}

function responseFinding(verdict: Verdict): Finding | null {
  if (verdict.kind === 'valid') return null
  const { mistakes } = verdict
  if (verdict.kind === 'invalid') return { reply: INVALID_RESPONSE, mistakes }
  const isOverload = verdict.code === 'GW_OVERLOADED'
  return { reply: isOverload ? refusal(verdict.code, mistakes, RETRY) : UNREADABLE_RESPONSE, mistakes }
}

function refuse(x: Exchange, { reply, mistakes }: Finding): Outcome {
  x.setVar(REPORT_VARIABLE, mistakes)
  return reply
}

function noteFor(headersOf: (x: Exchange) => HeaderList) {
  return (x: Exchange, { mistakes }: Finding): Outcome => {
    x.setVar(REPORT_VARIABLE, mistakes)
    setHeader(headersOf(x), REPORT_FIELD, 'failed')
    return null
  }
}

/** Goes on with a verdict, without waiting where there is nothing to wait for. */
function settle(verdict: Verdict | Promise<Verdict>, conclude: (verdict: Verdict) => Outcome) {
  if (!(verdict instanceof Promise)) return conclude(verdict)
  return verdict.then(conclude, (problem: unknown) => {
    if (problem instanceof Overload) return conclude(OVERLOADED)
    throw problem
  })
}
