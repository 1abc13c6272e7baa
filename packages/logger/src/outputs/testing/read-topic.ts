import { Consumer } from '@platformatic/kafka'

/** A message as read from a topic. */
export interface ReadMessage {
  readonly key: string
  readonly record: Readonly<Record<string, unknown>>
}

/** Reads all messages of a topic with one partition, in their order. */
export async function readTopic(broker: string, topic: string): Promise<ReadMessage[]> {
  const consumer = new Consumer({
    groupId: `readers-of-${topic}`,
    clientId: 'test',
    bootstrapBrokers: [broker],
    retries: 60,
  })
  const read: ReadMessage[] = []
  try {
    const offsets = await consumer.listOffsets({ topics: [topic] })
    const end = offsets.get(topic)![0]!
    const stream = await consumer.consume({
      topics: [topic],
      mode: 'earliest',
      maxWaitTime: 100,
      autocommit: false,
    })
    for await (const { key, value, offset } of stream) {
      read.push({ key: String(key ?? ''), record: JSON.parse(value.toString()) as ReadMessage['record'] })
      if (offset === end - 1n) break
    }
  } finally {
    await consumer.close(true)
  }
  return read
}
