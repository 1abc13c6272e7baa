import { optionalClosed, optionalFile, optionalFlag, optionalString } from './options.js'

/** TLS towards a server that a policy calls; the keys are those of `tls` of an upstream. */
export const callTls = optionalClosed('TLS towards this server. Absent: the authorities of Node.js.', {
  caFile: optionalFile('The authorities that are trusted (PEM), in place of those of Node.js.'),
  certFile: optionalFile('The certificate of the gateway (PEM), for servers that ask for one.'),
  keyFile: optionalFile('Its private key (PEM).'),
  servername: optionalString('The name that the certificate is checked for; default: that of the address.', {
    minLength: 1,
    maxLength: 253,
  }),
  insecure: optionalFlag(false, 'Accepts any certificate. For tests only.'),
})
