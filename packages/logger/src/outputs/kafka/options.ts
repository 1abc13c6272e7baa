/** Options for the Kafka output. */
export interface KafkaOptions {
  /** Brokers to ask for the cluster's metadata, as `host:port`. */
  readonly brokers: readonly string[]
  readonly topic: string
  /** Field of the record that becomes the key of the message. Records with the same key stay in one partition. */
  readonly key: 'request-id' | 'route' | 'client-ip' | 'none'
  /** Replicas that must have the records: all in sync, or only the leader. */
  readonly acks: 'all' | 'leader'
  readonly compression: 'none' | 'gzip' | 'snappy' | 'lz4'
  /** Maximum size of a request in bytes, before compression. A larger record is sent alone. */
  readonly maxBatchBytes: number
  readonly clientId: string
  readonly connectTimeoutMs: number
  /** Timeout of each request in milliseconds. */
  readonly timeoutMs: number
  readonly sasl: KafkaCredentials | null
  /** TLS options, or null for unencrypted connections. */
  readonly tls: KafkaTlsOptions | null
}

/** Credentials for SASL authentication. */
export interface KafkaCredentials {
  readonly mechanism: 'plain' | 'scram-sha-256' | 'scram-sha-512'
  readonly username: string
  readonly password: string
}

/** TLS options for connections to brokers. All files are PEM. */
export interface KafkaTlsOptions {
  /** Certificate authorities to trust instead of the system's, or null. */
  readonly caFile: string | null
  /** Client certificate and key for mutual TLS, or null. */
  readonly certFile: string | null
  readonly keyFile: string | null
  /** True if any server certificate is accepted. */
  readonly insecure: boolean
}
