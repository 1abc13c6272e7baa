import { Type } from '@sinclair/typebox'
import { object, oneOf, ratio } from './build.js'

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
  },
  {
    description:
      'Distributed tracing. Each request belongs to a trace: that of the caller, or a new one. Absent: trace fields of requests are passed on unchanged.',
  },
)
