import { Type } from '@sinclair/typebox'
import { duration, object, oneOf, ratio } from './build.js'
import { spool } from './log-spool.js'
import { otlpKeys } from './otlp.js'

/** Name of the target of spans in metrics and in /v1/log. */
export const TRACES = 'traces'

const sampling = object(
  {
    ratio: ratio({
      default: '100%',
      description:
        'Share of traces that is sampled. Gateways with the same ratio sample the same traces, because the trace id decides.',
    }),
    parentBased: Type.Boolean({
      default: true,
      description:
        'Keeps the sampling decision of the caller. Set it to false for untrusted clients, which could otherwise have all their requests sampled.',
    }),
  },
  { default: {}, description: 'Selection of the traces that are sampled.' },
)

const keep = object(
  {
    errors: Type.Boolean({ default: true, description: 'Failed requests (`result: error` in the log).' }),
    blocked: Type.Boolean({ default: false, description: 'Requests that a policy has refused.' }),
    slowerThan: Type.Optional(
      duration('1ms', '1h', { description: 'Requests that took longer. Absent: none.' }),
    ),
  },
  {
    default: {},
    description:
      'Requests whose spans are exported although their trace is not sampled. Decided at their end, so upstreams do not know.',
  },
)

/** Schema of the export of spans. */
export const exporterSchema = object(
  {
    ...otlpKeys('/v1/traces'),
    spool,
  },
  { description: 'Export of spans. Absent: the gateway only propagates traces.' },
)

/** Schema of tracing. */
export const tracingSchema = object(
  {
    propagation: Type.Array(oneOf(['tracecontext', 'b3', 'b3multi'], {}), {
      default: ['tracecontext'],
      minItems: 1,
      maxItems: 3,
      uniqueItems: true,
      description:
        'Header formats of trace contexts: `tracecontext` (W3C: `traceparent`, `tracestate`), `b3` (one field) and `b3multi` (`X-B3-…`). The first one with a valid context is read; all are sent to upstreams. Fields of other formats are passed on unchanged.',
    }),
    sampling,
    keep,
    exporter: Type.Optional(exporterSchema),
  },
  {
    description:
      'Distributed tracing. Each request belongs to a trace: that of the caller, or a new one. Absent: trace fields of requests are passed on unchanged.',
  },
)
