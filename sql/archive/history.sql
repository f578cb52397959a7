-- Who changed what of a campaign, and when: the versions of one thing, and all changes, the newest first.

create or replace function archive.versions(campaign_id bigint, key text, kind text default 'entry')
returns table (
  version bigint, known_from timestamptz, known_until timestamptz, writer text, why text, ended_by text,
  what jsonb
)
language plpgsql stable parallel safe rows 5
as $$
begin
  if kind is null or kind not in ('account', 'force', 'subordination', 'entry', 'stance') then
    raise exception 'a campaign has no %', coalesce(kind, 'kind of that name')
      using errcode = 'invalid_parameter_value', hint = 'There are account, force, subordination, entry and stance.';
  end if;
  return query execute format(
    'select row_number() over (order by lower(told.known)), lower(told.known), upper(told.known), told.writer,'
    ' told.why, told.ended_by, to_jsonb(told) - array[''id'', ''campaign_id'', ''known'', ''writer'', ''why'', ''ended_by'']'
    ' from public.%I as told where told.campaign_id = $1 and told.key = $2 order by lower(told.known)',
    kind
  ) using versions.campaign_id, versions.key;
end
$$;

comment on function archive.versions(bigint, text, text) is
'Every version of an entry, stance, force, account or subordination, the oldest first: what it said, who wrote it when, and who ended it.';

create or replace function archive._changes_of(kind text, title text)
returns text
language sql immutable strict parallel safe
return format(
  $query$
  (select lower(told.known) as moment, told.writer as who,
     case when was.known is null then 'recorded' else 'corrected' end as what,
     %1$L as kind, told.key, %2$s as title, told.why,
     array(
       select now.key
       from jsonb_each(to_jsonb(told)) as now
       inner join jsonb_each(to_jsonb(was)) as before on now.key = before.key
       where now.value <> before.value
         and now.key not in ('id', 'known', 'writer', 'why', 'ended_by', 'forces')
       order by now.key
     ) as columns
   from public.%1$I as told
   left join public.%1$I as was
     on was.campaign_id = told.campaign_id and was.key = told.key
       and was.known -|- told.known and upper(was.known) = lower(told.known)
   where told.campaign_id = $1 and lower(told.known) < $2
   order by lower(told.known) desc
   limit $3)
  union all
  (select upper(told.known), told.ended_by, 'taken away', %1$L, told.key, %2$s, '', array[]::text[]
   from public.%1$I as told
   where told.campaign_id = $1 and not upper_inf(told.known) and upper(told.known) < $2
     and not exists (
       select
       from public.%1$I as next
       where next.campaign_id = told.campaign_id and next.key = told.key
         and next.known -|- told.known and lower(next.known) = upper(told.known)
     )
   order by upper(told.known) desc
   limit $3)
  $query$, kind, title
);

comment on function archive._changes_of(text, text) is
'The part of a query that tells the changes of one table: $1 the campaign, $2 before when, $3 how many.';

create or replace function archive.changes(
  campaign_id bigint,
  most integer default 100,
  before timestamptz default null
)
returns table (
  moment timestamptz, who text, what text, kind text, key text, title text, why text, columns text[]
)
language plpgsql stable parallel safe rows 100
as $$
begin
  return query execute
    archive._changes_of('account', 'told.title')
    || ' union all ' || archive._changes_of('force', 'told.name')
    || ' union all ' || archive._changes_of('subordination', 'told.force || '' under '' || told.superior')
    || ' union all ' || archive._changes_of('entry', 'told.title')
    || ' union all ' || archive._changes_of('stance', 'concat_ws('': '', told.force, nullif(told.state, ''''))')
    || ' order by 1 desc, 4, 5 limit $3'
  using changes.campaign_id, coalesce(changes.before, 'infinity'), changes.most;
end
$$;

comment on function archive.changes(bigint, integer, timestamptz) is
'What was recorded, corrected and taken away of a campaign, by whom and why, the newest first; of a correction, which columns.';
