-- needs: css/los.sql
-- All that a hex sees in css: the judgement of css.los, for every hex near enough at once.

create or replace function css._fan_of(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  now jsonb,
  out_of_barrage text,
  paddy text,
  ground text,
  downhill text,
  cane text,
  corner text,
  q integer,
  r integer,
  level integer,
  in_cave boolean,
  shut_in boolean,
  blocking text[],
  thinning text[],
  clear text[],
  tqs integer[],
  trs integer[]
)
language sql stable rows 1
as $$
  select
    position.map_id,
    state.conditions,
    reading.*,
    viewer.q,
    viewer.r,
    hex.level::integer,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false),
    -- css-11: out of a barrage
    coalesce(
      here.barrage and (reading.out_of_barrage = 'a' or (reading.out_of_barrage = 'c' and here.bombardment)),
      false
    ),
    class.*,
    disc.tqs,
    disc.trs
  from public.position
  cross join lateral (select coalesce(_fan_of.conditions, position.conditions) as conditions) as state
  cross join lateral css._readings(coalesce(_fan_of.policy, position.policy)) as reading
  cross join lateral positions.place(_fan_of.position_id, _fan_of."from") as viewer
  inner join public.hex on hex.map_id = position.map_id and hex.q = viewer.q and hex.r = viewer.r
  left join css._marked(_fan_of.position_id) as here on here.q = viewer.q and here.r = viewer.r
  cross join lateral css._sight_classes() as class
  cross join lateral (
    select
      array_agg(disc.hq) as tqs,
      array_agg(disc.hr) as trs
    from lattice.disc(
      viewer.q,
      viewer.r,
      -- nothing is seen farther than this, whatever the light (7.1.2)
      least(_fan_of.radius, case when state.conditions ->> 'weather' = 'rain' then 3 else 8 end)
    ) as disc
    left join public.marker
      on marker.position_id = _fan_of.position_id
        and marker.q = disc.hq
        and marker.r = disc.hr
        and marker.kind = 'illumination'
    where (disc.dq <> 0 or disc.dr <> 0)
      and lattice.distance(0, 0, disc.dq, disc.dr) <= css._visibility(state.conditions, marker.id is not null)
  ) as disc
  where position.id = _fan_of.position_id
$$;

comment on function css._fan_of(bigint, text, integer, jsonb, jsonb) is
'All that a fan must know of its viewer: where it is, what holds now, and every hex near enough to be seen.';

create or replace function css.fan(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (q integer, r integer, label text, range integer)
language plpgsql stable rows 100
set plan_cache_mode = force_generic_plan
set join_collapse_limit = 1
as $$
#variable_conflict use_column
declare
  view record;
  tqs integer[];
  trs integer[];
  aboves integer[];
begin
  select * into view
  from css._fan_of(fan.position_id, fan."from", fan.radius, fan.conditions, fan.policy);
  if view.q is null then
    raise exception 'no hex or unit % on the map of this position', fan."from" using errcode = 'no_data_found';
  end if;
  -- 6.2.2 excuses some terrain for lines that look down a steep slope
  select array_agg(downhill.level order by target.n)
  into aboves
  from unnest(view.tqs, view.trs) with ordinality as target (q, r, n)
  left join css._downhill(view.map_id, view.q, view.r, view.tqs, view.trs) as downhill
    on downhill.tq = target.q and downhill.tr = target.r;
  -- What stops a line mostly stands near the viewer: so the near hexes are asked for all
  -- lines, and everything else only for the lines that are left.
  select
    array_agg(target.q),
    array_agg(target.r),
    array_agg(target.above)
  into tqs, trs, aboves
  from unnest(view.tqs, view.trs, aboves) as target (q, r, above)
  where (not view.shut_in or lattice.distance(view.q, view.r, target.q, target.r) = 1)
    and (target.q, target.r) not in (
      select
        met.tq,
        met.tr
      from css._hexes_met(
        view.map_id, fan.position_id, view.q, view.r, view.level, view.tqs, view.trs, aboves, view.paddy,
        view.ground, view.downhill, view.cane, view.corner, view.blocking, view.thinning, view.clear, 2, false
      ) as met
      where css._stops(met.kind, met.met1, met.met2)
    );
  return query
  select
    hex.q,
    hex.r,
    hex.label,
    lattice.distance(view.q, view.r, hex.q, hex.r)
  from unnest(tqs, trs) as target (q, r)
  inner join public.hex on hex.map_id = view.map_id and hex.q = target.q and hex.r = target.r
  where (target.q, target.r) not in (
    select
      side.tq,
      side.tr
    from css._sides_met(
      view.map_id, view.q, view.r, view.level, view.in_cave, tqs, trs, aboves, false, view.corner, false
    ) as side
    where css._side_stops(side.feature, side.way, side.of_cave, side.above is not null and view.downhill <> 'b')
  )
  and (target.q, target.r) not in (
    select
      met.tq,
      met.tr
    from css._hexes_met(
      view.map_id, fan.position_id, view.q, view.r, view.level, tqs, trs, aboves, view.paddy, view.ground,
      view.downhill, view.cane, view.corner, view.blocking, view.thinning, view.clear, null, false
    ) as met
    where met.met1 <> 0 or met.met2 <> 0 or met.met1 is null
    group by met.tq, met.tr
    having bool_or(css._stops(met.kind, met.met1, met.met2) or css._untold(met.met1, met.met2))
    or count(*) filter (where css._thins(met.met1, met.met2) or css._may_thin(met.met1, met.met2)) > 1
  );
end
$$;

comment on function css.fan(bigint, text, integer, jsonb, jsonb) is
'Every hex that a hex or unit sees, with its range; the verdicts are those of css.los.';

create or replace function css.fan_reasons(
  position_id bigint,
  "from" text,
  radius integer default null,
  conditions jsonb default null,
  policy jsonb default null
)
returns table (rule text, clause text, at text, effect text, note text, point text)
language sql stable rows 50
as $$
  select
    los.rule,
    los.clause,
    los.at,
    case los.effect when 'blocks' then 'hides' else los.effect end,
    format('%s %s', count(*), case when los.effect = 'blocks' then 'hexes hidden' else 'lines' end),
    los.point
  from css._fan_of(
    fan_reasons.position_id, fan_reasons."from", fan_reasons.radius, fan_reasons.conditions, fan_reasons.policy
  ) as view
  cross join lateral unnest(view.tqs, view.trs) as wanted (q, r)
  inner join public.hex on hex.map_id = view.map_id and hex.q = wanted.q and hex.r = wanted.r
  cross join lateral css.los(
    fan_reasons.position_id, fan_reasons."from", hex.label, fan_reasons.conditions, fan_reasons.policy
  ) as los
  where los.effect in ('blocks', 'unknown') or los.point is not null
  group by los.rule, los.clause, los.at, los.effect, los.point
  order by count(*) desc, los.rule, los.clause, los.at
$$;

comment on function css.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
