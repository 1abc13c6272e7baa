import { optionalClosed, optionalFile, optionalFlag, optionalString } from '../options/options.js'

/** TLS options for a server that a policy calls. The keys are those of `tls` of an upstream. */
export const callTls = optionalClosed(
  'TLS options for the connection to this server. Default: the certificate authorities of Node.js.',
  {
    caFile: optionalFile('Trusted certificate authorities (PEM), instead of those of Node.js.'),
    certFile: optionalFile('Client certificate of the gateway (PEM), for servers that request one.'),
    keyFile: optionalFile('Private key of the client certificate (PEM).'),
    servername: optionalString(
      'Host name to verify in the server certificate. Default: the host of the address.',
      { minLength: 1, maxLength: 253 },
    ),
    insecure: optionalFlag(false, 'Accept any certificate. For tests only.'),
  },
)
