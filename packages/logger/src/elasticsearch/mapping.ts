import type { estypes } from '@elastic/elasticsearch'

const keyword: estypes.MappingProperty = { type: 'keyword', ignore_above: 1024 }
/**
 * IDs that are searched by value but never aggregated or sorted. Without doc values they need less disk
 * space.
 */
const otherId: estypes.MappingProperty = { ...keyword, doc_values: false }
const long: estypes.MappingProperty = { type: 'long' }
/**
 * Numbers that are aggregated but rarely searched. Without an index, writing is cheaper, and searching them
 * is slower because it reads doc values.
 */
const size: estypes.MappingProperty = { type: 'long', index: false }
const phase: estypes.MappingProperty = { type: 'float', index: false }
/** Text that is displayed but not searchable. */
const shown: estypes.MappingProperty = { type: 'text', index: false }
/** Object with any keys, mapped as one field so that header names cannot grow the mapping. */
const fields: estypes.MappingProperty = { type: 'flattened', ignore_above: 1024 }

/** Second name of a field, from the Elastic Common Schema (ECS). Records do not contain it. */
function alias(path: string): estypes.MappingProperty {
  return { type: 'alias', path }
}

function group(properties: Record<string, estypes.MappingProperty>): estypes.MappingProperty {
  return { properties }
}

/** Stored as is, neither searchable nor sortable. */
const binary: estypes.MappingProperty = { type: 'binary' }
const body = group({
  text: shown,
  base64: binary,
  bytes: long,
  ct: keyword,
  truncated: { type: 'boolean' },
  cut: keyword,
  sha256: keyword,
})

/** Elasticsearch mapping of traffic records. Unknown fields are accepted but not indexed. */
export const TRAFFIC_MAPPING: estypes.MappingTypeMapping = {
  // Unknown fields are kept in the document but not indexed.
  dynamic: false,
  properties: {
    '@timestamp': { type: 'date_nanos' },
    id: keyword,
    event: group({ kind: keyword }),
    trace: group({ id: otherId, sampled: { type: 'boolean' } }),
    span: group({ id: otherId }),
    parent: group({ id: otherId }),
    env: keyword,
    service: group({ environment: alias('env'), version: alias('gw.version') }),
    host: group({ name: alias('gw.pod') }),
    gw: group({ pod: keyword, worker: { type: 'short' }, version: keyword, config: keyword }),
    group: keyword,
    api: keyword,
    revision: keyword,
    route: keyword,
    consumer: group({ id: keyword, name: keyword, auth: keyword, credential: keyword }),
    user: group({ id: alias('consumer.id'), name: alias('consumer.name') }),
    client: group({
      ip: { type: 'ip', ignore_malformed: true },
      port: { type: 'integer' },
      geo: { type: 'geo_point', ignore_malformed: true },
      country: keyword,
    }),
    xff: keyword,
    http: group({
      method: keyword,
      version: keyword,
      request: group({
        id: alias('id'),
        method: alias('http.method'),
        body: group({ bytes: alias('req.bytes_b') }),
      }),
      response: group({ status_code: alias('res.status'), body: group({ bytes: alias('res.bytes_b') }) }),
    }),
    url: group({
      scheme: keyword,
      host: keyword,
      port: { type: 'integer' },
      domain: alias('url.host'),
      path: keyword,
      original: keyword,
      query: keyword,
      template: keyword,
    }),
    ua: keyword,
    user_agent: group({ original: alias('ua') }),
    req: group({ bytes_h: size, bytes_b: size, ct: keyword, encoding: keyword }),
    res: group({ status: { type: 'short' }, bytes_h: size, bytes_b: size, ct: keyword }),
    up: group({
      name: keyword,
      addr: keyword,
      status: { type: 'short' },
      attempts: { type: 'short' },
      retries: { type: 'short' },
      failovers: { type: 'short' },
      reused: { type: 'boolean' },
      http: keyword,
      at: phase,
      ms: phase,
      path: keyword,
      tries: group({
        addr: keyword,
        at: phase,
        ms: phase,
        code: keyword,
        status: { type: 'short' },
        reason: shown,
        retry: keyword,
      }),
    }),
    t: group({
      total: { type: 'float' },
      route: phase,
      req_chain: phase,
      req_body: phase,
      up_queue: phase,
      up_dns: phase,
      up_tcp: phase,
      up_tls: phase,
      up_ttfb: phase,
      up_body: phase,
      res_chain: phase,
      client_write: phase,
    }),
    result: keyword,
    error: group({
      code: keyword,
      policy: keyword,
      phase: keyword,
      reason: keyword,
      msg: { type: 'text' },
      message: alias('error.msg'),
    }),
    limit: group({ name: keyword, remaining: long }),
    cache: group({ status: keyword, age: long }),
    // Nested like `policies`. At most 32 per record.
    api_calls: {
      type: 'nested',
      properties: {
        name: keyword,
        at: phase,
        ms: phase,
        status: { type: 'short' },
        result: keyword,
        from: keyword,
      },
    },
    stream: group({ events: long, bytes: size, ms: phase, closed_by: keyword }),
    websocket: group({
      messages_in: long,
      messages_out: long,
      bytes_in: size,
      bytes_out: size,
      ms: phase,
      close: long,
      closed_by: keyword,
    }),
    pool: group({ busy: size, free: size, pending: size }),
    loop_lag_ms: phase,
    // Nested, so that a search can match several properties of the same policy. At most 32 per record.
    policies: { type: 'nested', properties: { id: keyword, ms: phase, out: keyword, note: keyword } },
    // Nested like `policies`. At most 32 per record.
    policy_spans: {
      type: 'nested',
      properties: { id: keyword, phase: keyword, at: phase, ms: phase, out: keyword, note: keyword },
    },
    vars: fields,
    hdr: group({ req_in: fields, req_up: fields, res_up: fields, res_out: fields }),
    body: group({ req_in: body, req_up: body, res_up: body, res_out: body }),
    privacy: group({ rules: keyword, detected: keyword, failed: keyword }),
    sampled: { type: 'boolean' },
    log: group({ reason: keyword, dropped: long, reasons: fields, since: { type: 'date' } }),
  },
}

/** The mapping for OpenSearch. Its `flat_object` has no parameters. */
export const OPENSEARCH_MAPPING: estypes.MappingTypeMapping = JSON.parse(
  JSON.stringify(TRAFFIC_MAPPING, (_, value) =>
    value?.type === 'flattened' ? { type: 'flat_object' } : value,
  ),
)
