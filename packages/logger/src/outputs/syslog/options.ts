/** Where syslog messages go and what their heads say. */
export interface SyslogOptions {
  /** `udp://host:514`, `tcp://host:601` or `tls://host:6514`; the port may be left out. */
  readonly address: string
  readonly facility: FacilityName
  readonly appName: string
  /** The SD-ID of the structured data: a name, `@` and a private enterprise number (RFC 5424 section 7.2.2). */
  readonly structuredDataId: string
  /** A longer message is refused. */
  readonly maxMessageBytes: number
  readonly tls: SyslogTlsOptions
}

/** How a receiver is trusted, and how it can trust us; files are PEM. */
export interface SyslogTlsOptions {
  /** Authorities to trust instead of the system's. */
  readonly caFile: string | null
  /** A certificate of our own with its key, for receivers that ask for one. */
  readonly certFile: string | null
  readonly keyFile: string | null
  /** Accepts any certificate. */
  readonly insecure: boolean
}

/** Facilities by their number (RFC 5424 section 6.2.1). */
export const FACILITIES = [
  'kern',
  'user',
  'mail',
  'daemon',
  'auth',
  'syslog',
  'lpr',
  'news',
  'uucp',
  'cron',
  'authpriv',
  'ftp',
  'ntp',
  'audit',
  'alert',
  'clock',
  'local0',
  'local1',
  'local2',
  'local3',
  'local4',
  'local5',
  'local6',
  'local7',
] as const

export type FacilityName = (typeof FACILITIES)[number]

/** A receiver's address. */
export interface SyslogAddress {
  readonly transport: 'udp' | 'tcp' | 'tls'
  readonly host: string
  readonly port: number
}

/** The ports that IANA has given to syslog by transport. */
const PORTS = { udp: 514, tcp: 601, tls: 6514 } as const

/** Reads `transport://host:port`. @throws Error when it is something else. */
export function parseSyslogAddress(text: string): SyslogAddress {
  const { protocol, hostname, port } = new URL(text)
  const transport = protocol.slice(0, -1)
  if (transport !== 'udp' && transport !== 'tcp' && transport !== 'tls')
    throw new Error(`'${protocol}' is no transport of syslog; write udp:, tcp: or tls:`)
  return {
    transport,
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? PORTS[transport] : Number(port),
  }
}
