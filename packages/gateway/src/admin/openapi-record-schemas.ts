import { count, digest, listOf, numbers, object, ref, text, textOrNull, time } from './openapi-parts.js'

const ms = { type: 'number' }
const member = (members: Readonly<Record<string, object>>) => object({}, members)

/** Schemas of records of the traffic log. */
export const RECORD_SCHEMAS = {
  LogRecord: {
    ...object(
      { '@timestamp': time },
      {
        id: text,
        route: text,
        trace: member({ id: text }),
        span: member({ id: text }),
        parent: member({ id: text }),
        consumer: member({ id: text, name: text }),
        client: member({ ip: text }),
        http: member({ method: text }),
        url: member({ host: text, path: text, query: text, scheme: text }),
        req: member({ bytes_b: count }),
        res: member({ status: count, bytes_b: count }),
        result: text,
        t: { ...numbers, description: 'Total and phases in milliseconds.' },
        up: member({
          name: text,
          addr: text,
          status: count,
          attempts: count,
          at: ms,
          ms,
          tries: listOf(ref('FailedAttempt')),
        }),
        policies: listOf(ref('PolicyRun')),
        policy_spans: {
          ...listOf(ref('PolicyRun')),
          description: 'Policies that took long, with their start.',
        },
        api_calls: listOf(object({ name: text, at: ms, ms, result: text }, { status: count })),
        error: member({ code: text, policy: text, phase: text, reason: text, msg: text }),
        hdr: { type: 'object', additionalProperties: { type: 'object', additionalProperties: text } },
        body: { type: 'object', additionalProperties: ref('RecordedBody') },
      },
    ),
    description: 'A record; the traffic log guide lists all fields.',
  },
  FailedAttempt: object({ addr: text, ms, reason: text, retry: text }, { at: ms, code: text, status: count }),
  PolicyRun: object({ id: text, ms, out: text }, { at: ms, note: text }),
  RecordedBody: member({ text, base64: text, bytes: count, truncated: { type: 'boolean' }, ct: text }),
  SearchedLog: object({
    kind: { enum: ['file', 'elasticsearch'] },
    where: { ...text, description: 'Folder or data stream.' },
    isComplete: { type: 'boolean', description: 'False if older records were not searched.' },
  }),
  Records: object({
    at: { ...time, description: 'Start of the search: `since` of the next one.' },
    searched: ref('SearchedLog'),
    records: { ...listOf(ref('LogRecord')), description: 'Newest first.' },
  }),
  ExplainedRecord: object({
    record: ref('LogRecord'),
    configuration: object({
      recorded: { ...text, description: 'First digits of the digest that served the request, or empty.' },
      active: digest,
      deploy: { anyOf: [ref('Deploy'), { type: 'null' }] },
    }),
    route: { anyOf: [object({ id: text }), { type: 'null' }] },
    policies: listOf(ref('RecordedPolicy')),
    refusal: { anyOf: [ref('RecordedRefusal'), { type: 'null' }] },
  }),
  RecordedPolicy: object({
    id: text,
    use: text,
    out: { ...text, description: '`pass`, `skip`, `stop`, `error`, or empty if not recorded.' },
    ms: { type: ['number', 'null'] },
    note: text,
    when: textOrNull,
    with: { description: 'Options, with secrets masked.' },
    meaning: listOf(text),
  }),
  RecordedRefusal: object({
    code: text,
    policy: text,
    phase: text,
    reason: text,
    message: text,
    cause: text,
    remedy: text,
    accepts: text,
  }),
}
