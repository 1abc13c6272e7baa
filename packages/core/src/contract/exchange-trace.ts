/** Trace context of an exchange, if tracing is configured. Its log record and its error response show the trace ID. */
export interface ExchangeTrace {
  /** 32 hexadecimal digits in lower case. */
  readonly traceId: string
  /** Span of the exchange: 16 hexadecimal digits in lower case. */
  readonly spanId: string
  /** Span of the caller, or empty if the trace begins here. */
  readonly parentId: string
  readonly isSampled: boolean
  /** True if spans are exported: the trace is sampled, or the finished exchange is worth keeping. */
  readonly isKept: boolean
  /** Value of traceparent for calls that are part of the exchange. */
  readonly traceparent: string
}
