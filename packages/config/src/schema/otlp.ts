import { Type } from '@sinclair/typebox'
import { duration, filePath, mapOf, object, text } from './build.js'

/** Keys of all exports to an OpenTelemetry collector. @param path path that is added to a URL without one */
export function otlpKeys(path: string) {
  return {
    endpoint: text('http-url', {
      description: `URL of an OpenTelemetry collector (OTLP/HTTP with protobuf). The path \`${path}\` is added to a URL without a path.`,
    }),
    headers: mapOf(Type.String({ grammar: 'field-value', secret: true, maxLength: 4096 }), {
      default: {},
      description: 'Header fields to add to each request, such as an API key.',
      propertyNames: text('reply-field-name'),
      maxProperties: 50,
    }),
    compress: Type.Boolean({ default: false, description: 'Compresses request bodies with gzip.' }),
    timeout: duration('100ms', '10m', {
      default: '30s',
      description: 'Maximum time from the start of a request to the end of its response.',
    }),
    tls: object(
      {
        caFile: Type.Optional(filePath("CA certificates to trust instead of the system's, PEM.")),
        insecure: Type.Boolean({ default: false, description: 'Accepts any certificate. For testing only.' }),
      },
      { default: {}, description: 'TLS settings for `https://` endpoints.' },
    ),
  }
}
