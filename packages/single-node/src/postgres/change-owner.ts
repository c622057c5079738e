import { escapeIdentifier, escapeLiteral } from 'pg';

/**
 * Statements that make one role the owner of what another has created in a database. Not `reassign owned`, which refuses to change what
 * the first superuser of a cluster owns. Extensions and their parts keep their owner.
 */
export function changeOwner({ from, to }: { from: string; to: string }): string[] {
  return [
    // Names in the commands have their schema.
    'set search_path = pg_catalog',
    `do $$
  declare object text;
  begin
    for object in
      select format('%s %s', kind, name)
      from (
        select 'schema' as kind, oid::regnamespace::text as name, tableoid, oid, oid as schema, nspowner as owner
        from pg_namespace
        union all
        select case relkind when 'S' then 'sequence' else 'table' end, oid::regclass::text, tableoid, oid, relnamespace, relowner
        from pg_class where relkind in ('r', 'p', 'v', 'm', 'f', 'S')
        union all
        select 'type', oid::regtype::text, tableoid, oid, typnamespace, typowner
        from pg_type where typtype in ('d', 'e', 'r') or typrelid in (select oid from pg_class where relkind = 'c')
        union all
        select 'routine', oid::regprocedure::text, tableoid, oid, pronamespace, proowner from pg_proc
      ) as created
      where owner = ${escapeLiteral(escapeIdentifier(from))}::regrole
        and schema not in (select oid from pg_namespace where nspname ~ '^pg_' or nspname = 'information_schema')
        -- Parts of extensions and types, and sequences of columns, which follow their table.
        and not exists (
          select from pg_depend d
          where d.classid = created.tableoid and d.objid = created.oid
            and (d.deptype in ('e', 'i') or (d.deptype = 'a' and kind = 'sequence')))
    loop
      execute format('alter %s owner to %I', object, ${escapeLiteral(to)});
    end loop;
  end $$`,
  ];
}
