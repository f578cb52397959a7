-- needs: css/los.sql
-- All that a hex sees in css: the judgement of css.los, for every hex near enough at once.
--
-- The ground around the viewer is read once, into arrays: a grid of 17 by 17 hexes, the
-- viewer's in the middle, and one of 35 by 35 hexsides. The cells of every line are then
-- looked up there, from the viewer outward, and no line is followed beyond what stops it.

create or replace function css._fan_of(
  position_id bigint, "from" text, radius integer, conditions jsonb, policy jsonb
)
returns table (
  map_id bigint,
  now jsonb,
  readings jsonb,
  q integer,
  r integer,
  level integer,
  in_cave boolean,
  shut_in boolean,
  barraged bigint[],
  burning bigint[],
  burnt bigint[],
  tqs integer[],
  trs integer[]
)
language sql stable rows 1
as $$
  select
    position.map_id,
    state.conditions,
    reading.s,
    viewer.q,
    viewer.r,
    hex.level::integer,
    coalesce((viewer.attributes ->> 'in_cave')::boolean, false),
    -- css-11: out of a barrage
    coalesce(
      css._spot(viewer.q, viewer.r) = any(mark.barraged)
      and (
        reading.s ->> 'css-11' = 'a'
        or (reading.s ->> 'css-11' = 'c' and css._spot(viewer.q, viewer.r) = any(mark.bombarded))
      ),
      false
    ),
    mark.barraged,
    mark.burning,
    mark.burnt,
    disc.tqs,
    disc.trs
  from public.position
  cross join lateral (select coalesce(_fan_of.conditions, position.conditions) as conditions) as state
  cross join lateral css._readings(coalesce(_fan_of.policy, position.policy)) as reading (s)
  cross join lateral positions.place(_fan_of.position_id, _fan_of."from") as viewer
  inner join public.hex on hex.map_id = position.map_id and hex.q = viewer.q and hex.r = viewer.r
  cross join lateral css._marked(_fan_of.position_id) as mark
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
    where (disc.dq <> 0 or disc.dr <> 0)
      and lattice.distance(0, 0, disc.dq, disc.dr) <= css._visibility(
        state.conditions, css._spot(disc.hq, disc.hr) = any(mark.lit)
      )
  ) as disc
  where position.id = _fan_of.position_id
$$;

comment on function css._fan_of(bigint, text, integer, jsonb, jsonb) is
'All that a fan must know of its viewer: where it is, what holds now, and every hex near enough to be seen.';

create or replace function css._weight(kind text, met1 integer, met2 integer)
returns integer
language sql immutable parallel safe
return case
  when css._stops(kind, met1, met2) or css._untold(met1, met2) then 2
  when css._thins(met1, met2) or css._may_thin(met1, met2) then 1
  else 0
end;

comment on function css._weight(text, integer, integer) is
'How much a hex on the way hides: 2 is not seen through, nor are two of weight 1 (7.1.1 c).';

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
set enable_mergejoin = off
as $$
#variable_conflict use_column
declare
  view record;
  side record;
  terrains text[];
  printed text[];
  levels integer[];
  grounds integer[];
  heights integer[];
  sides integer[] := array_fill(0, array[35 * 35]);
  steep integer[];
  literal boolean;
  corner text;
  cliffs_seen_over boolean;
begin
  select * into view
  from css._fan_of(fan.position_id, fan."from", fan.radius, fan.conditions, fan.policy);
  if view.q is null then
    raise exception 'no hex or unit % on the map of this position', fan."from" using errcode = 'no_data_found';
  end if;
  corner := view.readings ->> 'css-62';
  cliffs_seen_over := view.readings ->> 'css-44' <> 'b';
  literal := view.readings ->> 'css-43' = 'a';
  select
    array_agg(terrain.code order by terrain.code),
    array_agg(terrain.sight order by terrain.code)
  into terrains, printed
  from public.terrain
  where terrain.ruleset = 'css';
  -- The hexes around; -99 is off the map. A height is twice the level, and one more where the
  -- ground is not open: only what is higher than twice the lower end can hide anything.
  select
    array_agg(coalesce(spot.level, -99)),
    array_agg(coalesce(spot.ground, 0)),
    array_agg(
      case
        when spot.level is null or css._spot(spot.q, spot.r) = any(view.barraged) then 99
        when printed[spot.ground] = 'open' and not coalesce(css._spot(spot.q, spot.r) = any(view.burning), false)
          then 2 * spot.level
        else 2 * spot.level + 1
      end
    )
  into levels, grounds, heights
  from (
    select
      hex.q,
      hex.r,
      hex.level,
      array_position(terrains, css._ground(hex.terrain, hex.features)) as ground
    from generate_series(view.q - 8, view.q + 8) as across (q)
    cross join generate_series(view.r - 8, view.r + 8) as down (r)
    left join (
      select
        hex.q,
        hex.r,
        hex.level,
        hex.terrain,
        hex.features
      from public.hex
      where hex.map_id = view.map_id
        and hex.q = any(array(select generate_series(view.q - 8, view.q + 8)))
        and hex.r between view.r - 8 and view.r + 8
      offset 0
    ) as hex on hex.q = across.q and hex.r = down.r
    order by across.q, down.r
  ) as spot;
  -- the blocking hexsides around: 1 any but a cliff, 2 a cliff, 4 a steep slope
  for side in
    select
      35 * (hexside.x - 2 * view.q) + hexside.y - 2 * view.r + 613 as n,
      case hexside.kind when 'cliff' then 2 when 'steep_slope' then 5 else 1 end as bits,
      hexside.x,
      hexside.y
    from public.hexside
    where hexside.map_id = view.map_id
      and hexside.x between 2 * view.q - 17 and 2 * view.q + 17
      and hexside.y between 2 * view.r - 17 and 2 * view.r + 17
      and hexside.kind || '' in ('slope', 'steep_slope', 'ridge', 'cliff')
  loop
    sides[side.n] := sides[side.n] | side.bits;
    if side.bits = 5 then
      steep := steep || (
        select
          array[
            17 * (beside.q1 - view.q) + beside.r1 - view.r + 145,
            17 * (beside.q2 - view.q) + beside.r2 - view.r + 145
          ]
        from lattice.side_hexes(side.x, side.y) as beside
      );
    end if;
  end loop;
  return query
  select
    hex.q,
    hex.r,
    hex.label,
    line.away
  from (
    select
      target.*,
      greatest(target.level, view.level) as high,
      least(target.level, view.level) as low,
      case when target.level < view.level then target.dq else 0 end as low_q,
      case when target.level < view.level then target.dr else 0 end as low_r,
      -- 6.2.2: an end that looks down a steep slope of its own hex
      case
        -- only beside a steep slope
        when 145 = any(steep) or target.spot = any(steep) then (
          select max(greatest(levels[17 * trace.q1 + trace.r1 + 145], levels[17 * trace.q2 + trace.r2 + 145]))
          from lattice.trace
          where trace.dq = target.dq
            and trace.dr = target.dr
            and trace.crossed
            and (trace.of_start or trace.of_target)
            and sides[35 * trace.x + trace.y + 613] & 4 <> 0
            and css._stands_above(
              levels[17 * trace.q1 + trace.r1 + 145], levels[17 * trace.q2 + trace.r2 + 145],
              (trace.q1, trace.r1) in ((0, 0), (target.dq, target.dr)),
              (trace.q2, trace.r2) in ((0, 0), (target.dq, target.dr))
            )
        )
      end as above
    from (
      select
        wanted.q,
        wanted.r,
        wanted.q - view.q as dq,
        wanted.r - view.r as dr,
        lattice.distance(view.q, view.r, wanted.q, wanted.r) as away,
        17 * (wanted.q - view.q) + wanted.r - view.r + 145 as spot,
        levels[17 * (wanted.q - view.q) + wanted.r - view.r + 145] as level
      from unnest(view.tqs, view.trs) as wanted (q, r)
      offset 0
    ) as target
    where target.level <> -99
      and (target.away = 1 or not view.shut_in)
    offset 0
  ) as line
  inner join public.hex on hex.map_id = view.map_id and hex.q = line.q and hex.r = line.r
  -- two weights decide: of two cells, or of the first that stops the line, beyond which nobody looks
  where (
    select count(*)
    from (
      select half.n
      from (
        select
          case
            when cell.bits & 1 <> 0 and css._side_stops(false, cell.way, cell.of_cave, false) then 2
            when cell.bits & 2 <> 0
              and css._side_stops(true, cell.way, cell.of_cave, line.above is not null and cliffs_seen_over) then 2
            when cell.kind in ('hex', 'spine', 'touch') then css._weight(cell.kind, cell.met1, cell.met2)
            else 0
          end as weight
        from (
          select
            ground.kind,
            ground.bits,
            ground.way,
            ground.of_cave,
            css._met(
              ground.level1, line.high, line.low,
              lattice.distance(ground.q1, ground.r1, line.low_q, line.low_r) = 1,
              ground.terrain1, ground.sight1, ground.cover1, ground.barrage1, ground.burns1, literal
            ) as met1,
            case
              when ground.kind = 'spine' then css._met_at(
                view.q + ground.q2, view.r + ground.r2, nullif(levels[ground.spot2], -99), line.high, line.low,
                array[view.q + line.low_q, view.r + line.low_r],
                terrains[grounds[ground.spot2]], printed[grounds[ground.spot2]],
                view.barraged, view.burning, view.burnt, line.above, view.readings
              )
            end as met2
          from (
            select
              spot.*,
              css._sight(spot.printed1, spot.terrain1, spot.burns1, spot.burnt1, view.readings) as sight1,
              css._cover(spot.level1, spot.terrain1, spot.burns1, spot.burnt1, line.above, view.readings) as cover1
            from (
              select
                trace.kind,
                trace.q1::integer as q1,
                trace.r1::integer as r1,
                trace.q2::integer as q2,
                trace.r2::integer as r2,
                case when trace.kind in ('hex', 'touch') then 0 else sides[35 * trace.x + trace.y + 613] end as bits,
                css._way(trace.kind, trace.crossed, trace.of_start or trace.of_target, corner) as way,
                view.in_cave and trace.of_start as of_cave,
                nullif(levels[17 * trace.q1 + trace.r1 + 145], -99) as level1,
                terrains[grounds[17 * trace.q1 + trace.r1 + 145]] as terrain1,
                printed[grounds[17 * trace.q1 + trace.r1 + 145]] as printed1,
                view.barraged is not null
                and css._spot(view.q + trace.q1, view.r + trace.r1) = any(view.barraged) as barrage1,
                view.burning is not null
                and css._spot(view.q + trace.q1, view.r + trace.r1) = any(view.burning) as burns1,
                view.burnt is not null
                and css._spot(view.q + trace.q1, view.r + trace.r1) = any(view.burnt) as burnt1,
                17 * trace.q2 + trace.r2 + 145 as spot2
              from lattice.trace
              where trace.dq = line.dq
                and trace.dr = line.dr
                and case
                  when trace.kind = 'hex' then heights[17 * trace.q1 + trace.r1 + 145] > 2 * line.low
                  when trace.kind = 'touch' then corner = 'b'
                  when sides[35 * trace.x + trace.y + 613] <> 0 then true
                  else trace.kind = 'spine' and heights[17 * trace.q1 + trace.r1 + 145] > 2 * line.low
                end
              order by trace.n
              offset 0
            ) as spot
            offset 0
          ) as ground
          offset 0
        ) as cell
        offset 0
      ) as met
      cross join (values (1), (2)) as half (n)
      where half.n <= met.weight
      limit 2
    ) as weights
  ) < 2;
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
    css._visibility_rule(view.now),
    null,
    hex.label,
    'visibility',
    css._hexes(css._visibility(view.now, false)) || ' can be seen now',
    null
  from css._fan_of(
    fan_reasons.position_id, fan_reasons."from", 1, fan_reasons.conditions, fan_reasons.policy
  ) as view
  inner join public.hex on hex.map_id = view.map_id and hex.q = view.q and hex.r = view.r
  where css._visibility(view.now, false) < coalesce(fan_reasons.radius, 99)
  union all
  (select
    los.rule,
    los.clause,
    los.at,
    case los.effect when 'blocks' then 'hides' else los.effect end,
    format(
      case when los.effect = 'blocks' then '%s hex%s hidden' else '%s line%s' end,
      count(*),
      case when count(*) > 1 then case when los.effect = 'blocks' then 'es' else 's' end end
    ),
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
  order by count(*) desc, los.rule, los.clause, los.at)
$$;

comment on function css.fan_reasons(bigint, text, integer, jsonb, jsonb) is
'What hides hexes from a viewer: every rule with its place and how many hexes it hides.';
