import { Type } from '@sinclair/typebox'
import { duration, object, text } from './build.js'
import { otlpKeys } from './otlp.js'

/** Schema of the metrics. */
export const metricsSchema = object(
  {
    enabled: Type.Boolean({
      default: true,
      description: 'Serves Prometheus metrics at /metrics of the admin address.',
    }),
    address: Type.Optional(
      text('address', {
        description:
          'Additional address, `host:port`, that serves only /metrics, /healthz and /readyz, without TLS and authentication, for Prometheus and cluster probes. Anyone who can reach it can read the names of routes and targets. Absent: only the admin address serves them.',
      }),
    ),
    otlp: Type.Optional(
      object(
        {
          ...otlpKeys('/v1/metrics'),
          interval: duration('1s', '1h', { default: '30s', description: 'Time between two exports.' }),
        },
        {
          description:
            'Sends all metrics to an OpenTelemetry collector. Absent: metrics are only served at /metrics.',
        },
      ),
    ),
  },
  { default: {}, description: 'Metrics.' },
)
