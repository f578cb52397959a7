-- needs: ccp/cover.sql
-- Who and what is together in a ccp hex, and how many soldier figures that is: 15.

drop type if exists ccp.crowd cascade;
create type ccp.crowd as (
  label text,
  terrain text,
  stats ccp.stat array,
  figures integer,
  excess integer,
  codes text,
  forts bigint,
  fort_kinds text,
  blazes bigint,
  smokes bigint,
  smoke integer
);

comment on type ccp.crowd is
'All that is together in a hex: units and their soldier figures, those above seven, fortifications, blazes, smoke.';

create or replace function ccp._crowd(state positions.state, q integer, r integer)
returns ccp.crowd
language plpgsql stable
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  crowd ccp.crowd;
begin
  select
    hex.label,
    hex.terrain
  into crowd.label, crowd.terrain
  from public.hex
  where hex.map_id = state.map_id
    and hex.q = _crowd.q
    and hex.r = _crowd.r;
  select
    array_agg(stat),
    coalesce(sum(ccp._figures(stat.kind)), 0),
    greatest(0, coalesce(sum(ccp._figures(stat.kind)), 0) - 7),
    string_agg(stat.code, ', ' order by stat.code)
  into crowd.stats, crowd.figures, crowd.excess, crowd.codes
  from ccp._stats(state) as stat
  where stat.q = _crowd.q
    and stat.r = _crowd.r
    and stat.kind <> 'aircraft';
  select
    sum(marked.number) filter (where fort.kind is not null),
    string_agg(marked.kind, ', ' order by marked.kind) filter (where fort.kind is not null),
    sum(marked.number) filter (where marked.kind = 'blaze'),
    sum(marked.number) filter (where marked.kind = 'smoke'),
    max(marked.value) filter (where marked.kind = 'smoke')
  into crowd.forts, crowd.fort_kinds, crowd.blazes, crowd.smokes, crowd.smoke
  from (
    select
      marker.kind,
      count(*) as number,
      max(marker.value) as value
    from public.marker
    where marker.position_id = state.position_id
      and marker.q = _crowd.q
      and marker.r = _crowd.r
    group by marker.kind
  ) as marked
  left join ccp._fortifications() as fort on fort.kind = marked.kind;
  return crowd;
end
$$;

comment on function ccp._crowd(positions.state, integer, integer) is
'What is together in a hex; who flies is not in it.';
