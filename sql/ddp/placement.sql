-- needs: ddp/actions.sql
-- Where Japanese depth, reserves and fortifications are placed in ddp (D-Day at Peleliu): 9.2 to 9.4, 11.2, 18.31 and the
-- events that place a unit or a marker.

drop type if exists ddp.berth cascade;
create type ddp.berth as (
  label text,
  place text,
  id text,
  unit text,
  number integer,
  zone text,
  near integer,
  away integer,
  shore integer,
  rule text,
  why text
);

comment on type ddp.berth is
'A position hex, and the unit in it, that comes into question for a placement; `why`: what stands against it.';

create or replace function ddp._berths(scene ddp.scene, manner text, origin text, connected text[])
returns setof ddp.berth
language sql stable rows 40
as $$
  select
    site.label,
    site.place,
    site.id,
    holder.code,
    site.number,
    site.zone,
    site.near,
    (
      select lattice.distance(site.q, site.r, place.q, place.r)
      from positions.place((scene.state).position_id, _berths.origin) as place
    ),
    site.shore,
    bar.rule,
    bar.why
  from unnest(scene.sites) as site
  left join lateral (
    -- 18.31: a fortification alone is given depth, too
    select one.*
    from unnest(scene.holders) as one
    where one.label = site.label
    order by one.fortification
    limit 1
  ) as holder on true
  left join lateral (
    select
      entry.rule,
      entry.why
    from (
      values
      (1, manner in ('depth', 'fortification') and holder.code is null, '9.2', 'nobody is there'),
      (2, manner = 'depth' and holder.depth, '9.2', 'it has a depth marker'),
      (3, manner = 'depth' and holder.tank, '9.22', 'a tank gets no other depth marker'),
      (4, manner = 'depth' and holder.stance, '9.2', 'it is in counterattack stance'),
      (5, manner in ('depth', 'reinforcement') and site.label <> all(connected), '9.32', 'it is out of communication'),
      (6, manner not in ('depth', 'fortification') and site.held is not null, '9.32', 'a Japanese unit is there'),
      (7, manner not in ('depth', 'fortification') and site.taken, '9.32', 'US units are there'),
      (
        8, manner = 'tactical' and site.label <> all(connected)
        and ((scene.state).readings ->> 'ddp-16') is distinct from 'a', '11.2', 'it is out of communication'
      ),
      (9, manner = 'infiltration_event' and site.label = any(connected), '4.0', 'it is in communication'),
      (
        10, manner = 'infiltration_event' and ddp._ridge((scene.state).conditions)
        and site.terrain <> 'mountain'
        and not (
          site.terrain = 'jungle'
          and exists (
            select
            from public.hex as peak
            where peak.map_id = (scene.state).map_id
              and peak.terrain = 'mountain'
              and lattice.distance(peak.q, peak.r, site.q, site.r) <= 2
          )
        ), '4.0', 'it is neither in a mountain hex nor in jungle within two hexes of one'
      ),
      (11, manner = 'fortification' and site.terrain <> 'coral', '4.0', 'it is not in coral'),
      (
        12, manner = 'fortification' and exists (
          select
          from public.marker
          where marker.position_id = (scene.state).position_id
            and marker.kind = 'fortification'
            and marker.q = site.q
            and marker.r = site.r
        ), '4.0', 'it has a fortification'
      )
    ) as entry (n, holds, rule, why)
    where entry.holds
    order by entry.n
    limit 1
  ) as bar on true
  where not site.provisional
$$;

comment on function ddp._berths(ddp.scene, text, text, text[]) is
'Every position hex, and what stands against a placement there (9.2, 9.32, 9.4, 11.2).';

create or replace function ddp.placement(
  position_id bigint,
  manner text,
  origin text default null,
  linked text[] default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns setof rulings.ledger_step
language plpgsql stable rows 10
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_variable
declare
  scene ddp.scene := ddp._scene(position_id, conditions, policy);
  -- asked once, not for every hex
  connected text[] := ddp._linked(scene, linked);
  berths ddp.berth[] := array(select berth from ddp._berths(scene, manner, origin, connected) as berth);
  rule text := case manner when 'depth' then '9.2' when 'reinforcement' then '9.3' when 'tactical' then '9.4' else '4.0' end;
begin
  return query
  select
    coalesce(berth.rule, rule),
    null::text,
    berth.label,
    case when berth.why is null then 'candidate' else 'passed over' end,
    format('%s: %s', berth.id, coalesce(berth.why, format('%s hexes from the nearest US unit', berth.near))),
    case when manner = 'tactical' then 'ddp-16' end,
    berth.unit,
    null::integer,
    null::jsonb
  from unnest(berths) as berth
  where berth.why is null
    -- what is nowhere near a candidate is not worth a line
    or (berth.why not in ('nobody is there', 'it has a depth marker', 'a Japanese unit is there', 'it is not in coral'))
  order by berth.why is not null, berth.label;
  return next row(
    rule, null, null, case when exists (select from unnest(berths) as berth where berth.why is null) then 'placed' else 'none' end,
    case when exists (select from unnest(berths) as berth where berth.why is null)
      then 'the first of the candidates' else 'no position hex qualifies' end,
    null, null, null,
    jsonb_build_object(
      'candidates', (
        select coalesce(jsonb_agg(to_jsonb(ranked) order by ranked.rank, ranked.label), '[]')
        from (
          select
            berth.label,
            berth.place,
            berth.id,
            berth.unit,
            dense_rank() over (
              order by
                case manner
                  when 'tactical' then berth.away
                  when 'reinforcement' then case when berth.near <= 1 then 1 when berth.near <= 2 then 2 else 3 end
                  else berth.near
                end nulls last,
                case manner
                  when 'tactical' then berth.near
                  -- 9.2: next to a landing beach hex
                  when 'depth' then case when berth.shore <= 1 then 0 else 1 end
                  else 0
                end nulls last,
                case when manner = 'infiltration_event' then -berth.number else berth.number end,
                case when manner = 'infiltration_event' then '' else berth.zone end
            ) as rank
          from unnest(berths) as berth
          where berth.why is null
        ) as ranked
      )
    )
  )::rulings.ledger_step;
end
$$;

comment on function ddp.placement(bigint, text, text, text[], jsonb, jsonb) is
'Where a depth marker, a reserve unit or a fortification is placed: each position hex with its reason, candidates by rank in the verdict.';
