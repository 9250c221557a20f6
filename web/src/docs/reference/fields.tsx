/** The fields of a resource, side by side: what may be sent, and what is read. */
import { Cell, Row, Table } from '../table.tsx'
import type { Fields, Schema } from './openapi.ts'
import { Note, Required, Sent, Type } from './type.tsx'

export function FieldTable({ fields: { read, sent, required } }: { fields: Fields }) {
  return (
    <>
      <h2 id="fields" className="mt-8 mb-2 text-xl">
        Fields
      </h2>
      <Table head={['Name', 'Label', 'Sent as', 'Read as']}>
        {Object.entries({ ...sent, ...read }).map(([name, schema]) => (
          <Row key={name}>
            <Cell>
              <code>{name}</code>
              {required.includes(name) && <Required />}
            </Cell>
            <Cell label="Label">{sent[name]?.title ?? schema.title}</Cell>
            <Cell label="Sent as">
              <SentAs input={sent[name]} read={schema} />
            </Cell>
            <Cell label="Read as">
              <Type schema={schema} />
            </Cell>
          </Row>
        ))}
      </Table>
    </>
  )
}

function SentAs({ input, read }: { input: Schema | undefined; read: Schema }) {
  if (input && !input.readOnly && !read.readOnly)
    return (
      <Sent value>
        <Type schema={input} />
      </Sent>
    )
  return (
    <>
      <em className="text-ink-faint">read-only</em>
      <Note text={input?.description} />
    </>
  )
}
