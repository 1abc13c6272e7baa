import { Type } from '@sinclair/typebox'
import { filePath, object, oneOf, size } from './build.js'

/** Where records wait for the target of a sink that ships them; the same for every kind of target. */
export const spool = object(
  {
    dir: Type.Optional(
      filePath(
        'Where records wait until they are delivered. Absent: data/spool, and data/spool-ID for one of log.targets, in the working directory.',
      ),
    ),
    maxBytes: size(
      { min: '8mb', max: '100000gb' },
      { default: '2gb', description: 'The most that may wait, all workers together.' },
    ),
    keepFree: size(
      { min: '0b', max: '100000gb' },
      {
        default: '50mb',
        description:
          'Left free on the disk for others: with less, records wait in memory, as on a full disk.',
      },
    ),
    whenFull: oneOf(['drop-oldest', 'drop-newest'], {
      default: 'drop-oldest',
      description: 'What gives way at maxBytes; what is lost is counted.',
    }),
  },
  { default: {}, description: 'Records wait on disk until they are delivered.' },
)
