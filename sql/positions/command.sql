-- What the command of every game begins and ends with: the unit asked about, and the verdict.

create or replace function positions._counter(position_id bigint, unit text)
returns table (
  id bigint, q integer, r integer, side text, kind text, attributes jsonb, label text
)
language sql stable parallel safe rows 1
as $$
  select
    counter.id,
    counter.q,
    counter.r,
    counter.side,
    counter.kind,
    counter.attributes,
    hex.label
  from public.unit as counter
  left join public.hex on hex.map_id = counter.map_id and hex.q = counter.q and hex.r = counter.r
  where counter.position_id = _counter.position_id
    and counter.code = _counter.unit
$$;

comment on function positions._counter(bigint, text) is
'A unit with the label of its hex, which is null off the map.';

create or replace function positions._command_verdict(commanded boolean, untold boolean)
returns text
language sql immutable parallel safe
return case
  when commanded then 'in command'
  when untold then 'unknown'
  else 'out of command'
end;

comment on function positions._command_verdict(boolean, boolean) is
'One that commands is enough; else what a counter does not tell leaves it open.';
