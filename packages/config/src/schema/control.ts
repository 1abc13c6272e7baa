import { Type } from '@sinclair/typebox'
import { filePath, name, object, text } from './build.js'

const tls = object(
  {
    caFile: Type.Optional(filePath("CA certificates to trust instead of the system's, PEM.")),
    certFile: Type.Optional(
      filePath(
        'Client certificate file, PEM, for a controller that identifies gateways by their certificates.',
      ),
    ),
    keyFile: Type.Optional(filePath('Private key file of the client certificate, PEM.')),
    fingerprints: Type.Array(
      Type.String({
        pattern: '^[0-9A-Fa-f]{2}(:?[0-9A-Fa-f]{2}){31}$',
        expects: 'a SHA-256 fingerprint: 64 hexadecimal digits, with or without colons',
      }),
      {
        default: [],
        maxItems: 8,
        uniqueItems: true,
        description:
          'SHA-256 fingerprints of certificates. The controller must have one of them. Without `caFile`, its issuer and name are not checked then. List the next certificate before a renewal.',
      },
    ),
  },
  { default: {}, description: 'TLS settings for `https://` URLs.' },
)

/** Schema of the connection to a controller. */
export const controlSchema = object(
  {
    url: Type.Optional(
      text('control-url', {
        description:
          'URL of the controller, `https://HOST:PORT`. `http://` is allowed on loopback addresses only.',
      }),
    ),
    urls: Type.Optional(
      Type.Array(text('control-url'), {
        minItems: 1,
        maxItems: 16,
        uniqueItems: true,
        description: 'URLs of several controllers of one store, instead of `url`. They are tried in turn.',
      }),
    ),
    group: name(
      'Group of gateways that this one belongs to. All gateways of a group have the same configuration.',
    ),
    name: Type.Optional(name('Name of this gateway in the fleet. Default: the host name.')),
    token: Type.Optional(
      Type.String({
        secret: true,
        pattern: '^[!-~]+$',
        maxLength: 4096,
        keepsReference: true,
        expects: 'one line of visible ASCII characters',
        description: 'Token of this gateway at the controller.',
      }),
    ),
    tls,
  },
  {
    choice: { keys: ['url', 'urls'], min: 1, max: 1 },
    description:
      'Controller (`gw control`) from which this gateway gets its configuration. Only the document that the gateway is started with may set it; in deployed documents it has no effect. The rest of that document is used until the first deploy arrives.',
  },
)
