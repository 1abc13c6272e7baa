import { type BinaryWriter, WireType } from '@bufbuild/protobuf/wire'

/** Fields of KeyValue and AnyValue in opentelemetry/proto/common/v1/common.proto. */
const KEY = 1
const VALUE = 2
const STRING_VALUE = 1
const INT_VALUE = 3

/** Writes an attribute with a text, unless the value is absent or empty. @param field number of the attributes field */
export function writeText(w: BinaryWriter, field: number, name: string, value: unknown): void {
  if (value === undefined || value === '') return
  w.tag(field, WireType.LengthDelimited).fork()
  w.tag(KEY, WireType.LengthDelimited).string(name)
  w.tag(VALUE, WireType.LengthDelimited).fork()
  w.tag(STRING_VALUE, WireType.LengthDelimited).string(String(value))
  w.join().join()
}

/** Writes an attribute with an integer, unless the value is not one. @param field number of the attributes field */
export function writeInteger(w: BinaryWriter, field: number, name: string, value: unknown): void {
  if (!Number.isSafeInteger(value)) return
  w.tag(field, WireType.LengthDelimited).fork()
  w.tag(KEY, WireType.LengthDelimited).string(name)
  w.tag(VALUE, WireType.LengthDelimited).fork()
  w.tag(INT_VALUE, WireType.Varint).int64(value as number)
  w.join().join()
}
