import { Type } from '@sinclair/typebox'
import { filePath, object, oneOf, size, text } from './build.js'

const file = object(
  {
    dir: Type.String({
      minLength: 1,
      maxLength: 4096,
      default: './data/traffic',
      description: 'Where the segments go.',
    }),
    maxBytes: size(
      { min: '1mb', max: '100000gb' },
      { default: '1gb', description: 'All segments together; the oldest is removed.' },
    ),
    segmentBytes: Type.Optional(
      size(
        { min: '64kb', max: '16gb' },
        {
          description:
            'A segment is closed at this size. Absent: 64mb, or half of maxBytes when that is less.',
        },
      ),
    ),
  },
  { default: {}, description: 'The sink `file`.' },
)

const auth = object(
  {
    username: Type.Optional(Type.String({ maxLength: 256, description: 'The user.' })),
    password: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'The password.' })),
    apiKey: Type.Optional(Type.String({ secret: true, maxLength: 4096, description: 'The API key.' })),
  },
  { description: 'A user and password, or an API key.' },
)

const spool = object(
  {
    dir: filePath('Where records wait.'),
    maxBytes: size(
      { min: '1mb', max: '100000gb' },
      { default: '2gb', description: 'The most that may wait.' },
    ),
  },
  { description: 'Where records wait on disk.' },
)

const elasticsearch = object(
  {
    nodes: Type.Array(text('http-url'), {
      minItems: 1,
      maxItems: 100,
      description: 'The URLs of the cluster.',
    }),
    dataStream: Type.String({
      minLength: 1,
      maxLength: 255,
      default: 'logs-gateway-default',
      description: 'The data stream that gets the records.',
    }),
    auth: Type.Optional(auth),
    spool: Type.Optional(spool),
  },
  { description: 'The sink `elasticsearch`.' },
)

/** The traffic log. */
export const logSchema = object(
  {
    sink: oneOf(['file', 'elasticsearch', 'none'], { default: 'file', description: 'Where records go.' }),
    fields: oneOf(['minimal', 'standard', 'full'], {
      default: 'standard',
      description: 'How much a record says.',
    }),
    file,
    elasticsearch: Type.Optional(elasticsearch),
  },
  { default: {}, description: 'The traffic log: one record for every call.' },
)
