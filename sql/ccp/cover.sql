-- needs: ccp/stats.sql
-- The Cover of a ccp hex, of its terrain and of its fortification, against what is fired at it: T81.3, F100 to F107.

drop type if exists ccp.cover cascade;
create type ccp.cover as (
  source text,
  rule text,
  value integer,
  inside boolean
);

comment on type ccp.cover is
'A Cover that a hex offers, by what, and whether only those inside have it (T81.3.1).';

create or replace function ccp._fortifications()
returns table (kind text, rule text, cover integer, cover_overhead integer)
language sql immutable parallel safe rows 7
as $$
  values
  ('bunker', 'F101', 6, 7),
  ('cave', 'F102.2.3', 4, 8),
  ('foxholes', 'F103', 3, 4),
  ('mines', 'F104', null, null),
  ('pillbox', 'F105', 5, 6),
  ('trench', 'F106.1', 4, 5),
  ('wire', 'F107', null, null)
$$;

comment on function ccp._fortifications() is
'The seven fortifications (F100.1) and the Cover each gives its hex: usually, and against aircraft, mortars and
artillery; a cave gives its own to those inside alone.';

create or replace function ccp._covers(
  state positions.state, q integer, r integer, against text default 'fire', downslope boolean default true
)
returns setof ccp.cover
language sql stable rows 3
as $$
  select
    replace(hex.terrain, '_', ' '),
    effect.rule,
    effect.halves / 2,
    false
  from public.hex
  inner join public.terrain_effect as effect
    on effect.ruleset = 'ccp'
      and effect.feature = 'terrain'
      and effect.code = hex.terrain
      and effect.aspect = 'cover'
  where hex.map_id = state.map_id
    and hex.q = _covers.q
    and hex.r = _covers.r
    -- T83
    and not exists (
      select
      from public.marker
      where marker.position_id = state.position_id
        and marker.q = _covers.q
        and marker.r = _covers.r
        and marker.kind = 'blaze'
    )
  union all
  select
    fort.kind,
    fort.rule,
    case when _covers.against in ('mortar', 'artillery', 'aircraft') then fort.cover_overhead else fort.cover end,
    fort.kind = 'cave'
  from public.marker
  inner join ccp._fortifications() as fort on fort.kind = marker.kind and fort.cover is not null
  where marker.position_id = state.position_id
    and marker.q = _covers.q
    and marker.r = _covers.r
    -- F102.2.3: only from downslope, but against artillery always
    and (fort.kind <> 'cave' or _covers.downslope or _covers.against = 'artillery')
$$;

comment on function ccp._covers(positions.state, integer, integer, text, boolean) is
'Every Cover that a hex offers against fire, mortar, artillery or aircraft, and whether only those inside have it; a cave
from downslope alone (T81.3.1, F102.2.3).';

create or replace function ccp._cover(covers ccp.cover[], inside boolean)
returns integer
language plpgsql immutable parallel safe
as $$
begin
  return (select max(found.value) from unnest(covers) as found where _cover.inside or not found.inside);
end
$$;

comment on function ccp._cover(ccp.cover[], boolean) is
'The Cover that those inside the cave of a hex have, or those who are not: the best counts; null: none (T81.3.1).';

create or replace function ccp._cover_steps(covers ccp.cover[])
returns setof ccp.stat_step
language sql immutable parallel safe rows 2
as $$
  select
    4,
    null,
    found.rule,
    found.value::text,
    format('Cover: %s%s', found.source, case when found.inside then ', for those inside' else '' end),
    null
  from unnest(covers) as found
$$;

comment on function ccp._cover_steps(ccp.cover[]) is
'Every Cover that a hex offers, as a step each.';
